import { expect, test } from "vitest";
import { widthOf } from "./cells.ts";
import { drawLine, edited, emptyLine, type Line, lineOf } from "./line-editor.ts";

const press = (line: Line, ...keys: readonly string[]) =>
  keys.reduce<Line>((now, key) => edited(now, { kind: "key", key }) ?? now, line);

test("a person types, moves and deletes whole characters", () => {
  expect(press(emptyLine, "a", "Space", "🫖", "Left", "é", "End", "Backspace").text).toBe("a é");
  expect(press(lineOf("one two"), "Ctrl+W").text).toBe("one ");
  expect(press(lineOf("one"), "Home", "Delete").text).toBe("ne");
  expect(press(lineOf("one"), "Ctrl+U").text).toBe("");
  expect(press(lineOf("a"), "Alt+Enter", "b").text).toBe("a\nb");
  expect(edited(lineOf("a"), { kind: "key", key: "PageUp" })).toBeUndefined();
});

test("a megabyte that is pasted is kept whole, and drawn in no more than the field", () => {
  const line = edited(lineOf("x"), { kind: "paste", text: "日\n\u001b[2J".repeat(200_000) }) ?? emptyLine;
  expect(line.text).toHaveLength(1 + 6 * 200_000);
  const drawn = drawLine(line, 40);
  expect(widthOf(drawn)).toBe(40);
  expect(drawn).not.toContain("\u001b[2J");
});

test("the cursor is always seen", () => {
  const text = "0123456789".repeat(10);
  for (const cursor of [0, 10, 50, 99])
    expect(drawLine({ text, cursor }, 20)).toContain(`\u001b[7m${text[cursor]}\u001b[27m`);
  expect(drawLine({ text, cursor: 100 }, 20)).toContain("9\u001b[7m \u001b[27m");
});
