import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonLines } from "./json-lines.ts";

test("lines are read alike in whatever pieces they come", () => {
  const text = '{"a":"über 🚂"}\nWarning: talk\n[1]\n{"b":{broken\n{"c":2}\n{"d":3}';
  const bytes = new TextEncoder().encode(text);
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length)), (cuts) => {
      const lines = jsonLines();
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const found = edges.flatMap((edge, at) => lines.push(bytes.subarray(edge, edges[at + 1] ?? bytes.length)));
      expect([...found, ...lines.rest()]).toEqual([{ a: "über 🚂" }, { c: 2 }, { d: 3 }]);
    }),
  );
});

test("a line without end is given up, and the next one is read", () => {
  const lines = jsonLines();
  const piece = new TextEncoder().encode("x".repeat(1024 * 1024));
  for (let i = 0; i < 40; i++) expect(lines.push(piece)).toEqual([]);
  expect(lines.push(new TextEncoder().encode('\n{"a":1}\n'))).toEqual([{ a: 1 }]);
});
