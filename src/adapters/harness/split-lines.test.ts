import fc from "fast-check";
import { expect, test } from "vitest";
import { splitLines } from "./split-lines.ts";

test("lines are the same, wherever the pieces end, also within a character", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.integer({ min: 1, max: 7 }), (texts, size) => {
      const lines = texts.map((text) => text.replaceAll("\n", ""));
      const bytes = new TextEncoder().encode(lines.join("\n"));
      const splitter = splitLines();
      const got: string[] = [];
      for (let at = 0; at < bytes.length; at += size) got.push(...splitter.push(bytes.subarray(at, at + size)));
      got.push(splitter.rest());
      expect(got).toEqual(lines.length === 0 ? [""] : lines);
    }),
  );
});

test("a line that is too long is left out, and those around it are not", () => {
  const splitter = splitLines(10);
  const encode = (text: string) => new TextEncoder().encode(text);
  const lines = ["one\nthis one is ", "far too long", " and goes on\ntwo\n", "three"].flatMap((text) =>
    splitter.push(encode(text)),
  );
  expect([...lines, splitter.rest()]).toEqual(["one", "two", "three"]);
});
