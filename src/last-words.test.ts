import { expect, test } from "vitest";
import { lastWords } from "./text.ts";

test("the last lines of a program become one line, without frames and control characters", () => {
  const printed = "first\n\u001b[31mInvalid API key\u001b[0m\r\n\n│ Please run /login │\n╰──────╯\n\u0007";
  expect(lastWords(printed)).toBe("first · Invalid API key · Please run /login");
  expect(lastWords("a\nb\nc\nd\ne")).toBe("b · c · d · e");
  expect(lastWords("\n ░░░ \n")).toBe("");
});

test("a long text is cut, never through a character", () => {
  expect(lastWords("x".repeat(1000))).toHaveLength(300);
  expect(lastWords(`${"x".repeat(298)}𠮷𠮷`)).toBe(`${"x".repeat(298)}…`);
});
