import { expect, test } from "vitest";
import { createAnswerReader, word } from "./control-client.ts";

function read(pieces: readonly string[], least: readonly number[] = []) {
  const told: unknown[] = [];
  const sizes = [...least];
  const reader = createAnswerReader({
    begin: (isOurs) => {
      told.push(["begin", isOurs]);
      return isOurs ? (sizes.shift() ?? 0) : 0;
    },
    end: (lines, isError) => told.push([isError ? "error" : "end", ...lines]),
    notice: (line) => told.push(["notice", line]),
  });
  for (const piece of pieces) reader(Buffer.from(piece, "latin1"));
  return told;
}

test("answers and notices are told apart, in pieces of any size", () => {
  const text = "%begin 1 2 0\n%end 1 2 0\n%session-changed $0 a\n%begin 1 3 1\nb\n%end 1 3 1\n%output %0 x\n";
  const expected = [
    ["begin", false],
    ["end"],
    ["notice", "%session-changed $0 a"],
    ["begin", true],
    ["end", "b"],
    ["notice", "%output %0 x"],
  ];
  expect(read([text])).toEqual(expected);
  expect(read([...text])).toEqual(expected);
});

test("a screen with a line that looks like the end of the answer is read to its last row", () => {
  const screen = ["%end 1 3 1", "%begin 1 4 1", "%exit"];
  expect(read([`%begin 1 3 1\n${screen.join("\n")}\n%end 1 3 1\n`], [3])).toEqual([
    ["begin", true],
    ["end", ...screen],
  ]);
});

test("a refused command ends with what tmux says", () => {
  expect(read(["%begin 1 3 1\ncan't find pane: %9\n%error 1 3 1\n%begin 1 4 1\n%end 1 4 1\n"], [10])).toEqual([
    ["begin", true],
    ["error", "can't find pane: %9"],
    ["begin", true],
    ["end"],
  ]);
});

test("a word is one word of tmux's language, whatever is in it", () => {
  expect(word("a;b #{x} $y 'z'\nkill-server")).toBe(`'a;b #{x} $y '"'"'z'"'"' kill-server'`);
});
