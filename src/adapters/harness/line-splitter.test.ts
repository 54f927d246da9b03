import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineSplitter } from "./line-splitter.ts";

test("lines are the same however the bytes are cut, also inside of a character", () => {
  const whole = Buffer.from("one\nzwö 漢字\n\n{}\nrest");
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: whole.length })), (cuts) => {
      const splitter = createLineSplitter();
      const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      const lines = places.slice(1).flatMap((end, index) => splitter.push(whole.subarray(places[index], end)));
      expect([...lines, splitter.rest()]).toEqual(["one", "zwö 漢字", "{}", "rest"]);
    }),
  );
});

test("a line without an end costs no memory, and what follows it is read", () => {
  const splitter = createLineSplitter();
  const block = Buffer.alloc(1024 * 1024, "x");
  for (let n = 0; n < 40; n++) expect(splitter.push(block)).toEqual([]);
  expect(splitter.push(Buffer.from("\nnext\n"))).toEqual(["next"]);
});

test("what is given may be used again", () => {
  const splitter = createLineSplitter();
  const chunk = Buffer.from("first");
  splitter.push(chunk);
  chunk.fill("-");
  expect(splitter.push(Buffer.from("\n"))).toEqual(["first"]);
});
