import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineCutter, jsonLines, splitLines } from "./lines.ts";

const encode = (text: string) => new TextEncoder().encode(text);

/** Feeds a text to a reader in chunks that may end anywhere, even inside a character. */
function inPieces<Read>(text: string, cuts: readonly number[], push: (chunk: Uint8Array) => readonly Read[]): Read[] {
  const bytes = encode(text);
  const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return edges.slice(1).flatMap((end, at) => [...push(bytes.subarray(edges[at], end))]);
}

test("lines are the same wherever the chunks end, and empty lines are left out", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "ö", "漢", "🚂", " ", "\r") });
  fc.assert(
    fc.property(fc.array(word), fc.constantFrom("\n", "\r\n"), fc.array(fc.nat(1_000)), (texts, end, cuts) => {
      const lines = texts.map((text) => text.replaceAll("\r", ""));
      const splitter = splitLines();
      const got = inPieces(lines.join(end), cuts, splitter.push);
      const last = lines.at(-1) ?? "";
      expect([...got, splitter.rest()]).toEqual([...lines.slice(0, -1).filter((line) => line !== ""), last]);
    }),
  );
});

test("only a line that is too long is left out", () => {
  const splitter = splitLines(10);
  const lines = ["one\nthis one is ", "far too long", " and goes on\ntwo\n", "three"].flatMap((text) =>
    splitter.push(encode(text)),
  );
  expect([...lines, splitter.rest()]).toEqual(["one", "two", "three"]);
  splitter.push(encode("longer than ten bytes"));
  expect([splitter.rest(), splitter.rest()]).toEqual(["", ""]);
});

test("a line that is too long keeps its beginning, and all of its bytes are counted", () => {
  const cutter = createLineCutter(4);
  expect(cutter.push(encode("abcdef"))).toEqual([]);
  expect(cutter.pending()).toBe(6);
  expect(cutter.push(encode("g\nhi\n\n"))).toEqual([
    { text: "abcd", isCut: true },
    { text: "hi", isCut: false },
    { text: "", isCut: false },
  ]);
  expect(cutter.pending()).toBe(0);
});

test("an endless line uses no memory, and the next line is read", () => {
  const lines = jsonLines();
  const piece = encode("x".repeat(1024 * 1024));
  for (let i = 0; i < 40; i++) expect(lines.push(piece)).toEqual([]);
  expect(lines.push(encode('\n{"a":1}\n'))).toEqual([{ a: 1 }]);
});

test("the memory of a chunk may be reused", () => {
  const splitter = splitLines();
  const chunk = Buffer.from("first");
  splitter.push(chunk);
  chunk.fill("-");
  expect(splitter.push(encode("\n"))).toEqual(["first"]);
});

test("the objects in lines are the same wherever the chunks end, and other lines are ignored", () => {
  const text = '{"a":"über 🚂"}\nWarning: talk\n[1]\n{"b":{broken\n\n{"c":2}\r\n{"d":3}';
  fc.assert(
    fc.property(fc.array(fc.nat(1_000)), (cuts) => {
      const lines = jsonLines();
      const found = inPieces(text, cuts, lines.push);
      expect([...found, ...lines.rest()]).toEqual([{ a: "über 🚂" }, { c: 2 }, { d: 3 }]);
    }),
  );
});
