import { expect, test } from "vitest";
import { lastWords, oneLine } from "./last-words.ts";

test("the last lines of a program stand on one line, without frames and control characters", () => {
  const printed = "first\n\u001b[31mInvalid API key\u001b[0m\r\n\n│ Please run /login │\n╰──────╯\n\u0007";
  expect(lastWords(printed)).toBe("first · Invalid API key · Please run /login");
  expect(lastWords("a\nb\nc\nd\ne")).toBe("b · c · d · e");
  expect(lastWords("\n ░░░ \n")).toBe("");
});

test("what is too long is cut, never through a character", () => {
  expect(lastWords("x".repeat(1000))).toHaveLength(300);
  expect(oneLine(`${"x".repeat(598)}😀😀`).isWellFormed()).toBe(true);
});

test("any text stands on one line, without what a terminal would obey", () => {
  expect(oneLine("Not\u001b[31m logged\u001b[0m in.\r\n\u001b]0;title\u0007 Log\u202e in\t again.\n")).toBe(
    "Not logged in. Log in again.",
  );
});
