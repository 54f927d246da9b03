import { expect, test } from "vitest";
import { shownOutput } from "./shown-output.ts";

const hostile =
  "\u001b]0;owned\u0007a\u001b[2J\u001b[31;1mred\u001b[0m\u001b]8;;http://x\u001b\\link\u0007\u009b5n\u0000b";

test("what an agent printed is shown without anything that a terminal would obey", () => {
  expect(shownOutput(hostile, false)).toBe("aredlinkb");
});

test("with styles only colours and styles stay, and they end with the text", () => {
  expect(shownOutput(hostile, true)).toBe("a\u001b[31;1mred\u001b[0mlinkb\u001b[0m");
});

test("a colour inside of a title does not let the title through", () => {
  expect(shownOutput("\u001b]0;ti\u001b[31mtle\u0007x", true)).toBe("\u001b[31mtlex\u001b[0m");
});
