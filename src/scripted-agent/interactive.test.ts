import fc from "fast-check";
import { expect, test } from "vitest";
import { createKeyReader, type Key } from "./interactive.ts";

function read(...chunks: readonly (string | Uint8Array)[]): readonly Key[] {
  const keys: Key[] = [];
  const push = createKeyReader((key) => keys.push(key));
  for (const chunk of chunks) push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
  return keys;
}

test("text and keys are distinguished", () => {
  expect(read("hé\tllo\r\n\x15\x7f\x03\x04")).toEqual([
    { kind: "text", text: "hé\tllo" },
    { kind: "enter" },
    { kind: "newline" },
    { kind: "clear" },
    { kind: "backspace" },
    { kind: "interrupt" },
    { kind: "end" },
  ]);
});

test("a paste is one text with line feeds, whatever it contains", () => {
  expect(read("\x1b[200~one\rtwo\r\nthree\x03\x1b[31m\x1b[201~\r")).toEqual([
    { kind: "paste", text: "one\ntwo\nthree\x03\x1b[31m" },
    { kind: "enter" },
  ]);
});

test("the result does not depend on how bytes are split into chunks", () => {
  const whole = Buffer.from("a\x1b[200~wörd — 漢字\r🙂\x1b[201~\r\x1b[Ab\x1bOPc\r");
  const joined = (keys: readonly Key[]) => keys.map((key) => ("text" in key ? key.text : `<${key.kind}>`)).join("");
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: whole.length })), (cuts) => {
      const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      const pieces = places.slice(1).map((end, index) => whole.subarray(places[index], end));
      expect(joined(read(...pieces))).toBe("awörd — 漢字\n🙂<enter>bc<enter>");
    }),
  );
});

test("an escape with nothing after it is a key of its own, after a short wait", async () => {
  const keys: Key[] = [];
  const push = createKeyReader((key) => keys.push(key));
  push(Buffer.from("\x1b"));
  expect(keys).toEqual([]);
  while (keys.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(keys).toEqual([{ kind: "escape" }]);
});

test("an escape before another key is both keys, but before Enter it is a new line", () => {
  expect(read("\x1b\x15x")).toEqual([{ kind: "escape" }, { kind: "clear" }, { kind: "text", text: "x" }]);
  expect(read("\x1b\r")).toEqual([{ kind: "newline" }]);
});
