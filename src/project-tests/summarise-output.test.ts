import fc from "fast-check";
import { expect, test } from "vitest";
import { summariseOutput } from "./output.ts";

const size = (text: string) => new TextEncoder().encode(text).length;

test("a summary lists the failed tests, then the last lines", () => {
  expect(summariseOutput("\u001b[31mnot ok 1 - adds\u001b[0m\r\n\n\n\n1..1\n# fail 1\n\n")).toBe(
    "Failing tests:\n- adds\n\nThe last lines:\nnot ok 1 - adds\n\n1..1\n# fail 1",
  );
});

test("without known test names a summary has only the last lines", () => {
  expect(summariseOutput("one\ntwo\n")).toBe("one\ntwo");
  expect(summariseOutput("")).toBe("");
  expect(summariseOutput("\u001b[2J \n\t\n")).toBe("");
});

test("a summary of long output keeps its end, in whole lines", () => {
  const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}`);
  const summary = summariseOutput(lines.join("\n"));
  expect(size(summary)).toBeLessThanOrEqual(4096);
  expect(size(summary)).toBeGreaterThan(3900);
  expect(summary).toMatch(/^line \d+\n/);
  expect(summary.endsWith("line 9999")).toBe(true);
});

test("many failures leave room for the last lines, and the rest are counted", () => {
  const output = `${Array.from({ length: 1000 }, (_, index) => `not ok ${index} - test number ${index}`).join("\n")}\nthe end`;
  const summary = summariseOutput(output);
  const shown = summary.match(/^- /gm)?.length ?? 0;
  expect(summary).toContain(`\n… and ${1000 - shown} more.\n\nThe last lines:\n`);
  expect(summary.endsWith("\nthe end")).toBe(true);
  expect(shown).toBeGreaterThan(50);
  expect(size(summary)).toBeLessThanOrEqual(4096);
});

test("empty lines at the end, however many, do not hide the last text", () => {
  expect(summariseOutput(`the end${"\n".repeat(100_000)}`)).toBe("the end");
});

test("a very long line is truncated", () => {
  expect(summariseOutput(`a\n${"x".repeat(1_000_000)}\nb`)).toBe(`${"x".repeat(400)}…\nb`);
});

test("a summary is never larger than asked for, and always plain text", () => {
  const line = fc.oneof(
    fc.string({ unit: "binary", maxLength: 600, size: "max" }),
    fc.string().map((name) => `not ok 1 - ${name}`),
    fc.constant("日".repeat(500)),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40, size: "max" }), fc.integer({ min: 0, max: 3000 }), (lines, most) => {
      const summary = summariseOutput(lines.join("\n"), most);
      expect(size(summary)).toBeLessThanOrEqual(most);
      expect(summary).toMatch(/^(?:\P{Cc}|[\n\t])*$/u);
    }),
  );
});
