import fc from "fast-check";
import { expect, test } from "vitest";
import { outputPart, outputSize } from "./see-agent.ts";

const readerOf = (bytes: Uint8Array) => async (from: number, limit: number) => bytes.subarray(from, from + limit);

test("text read in parts of any size is complete", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.integer({ min: 5, max: 9 }), async (text, most) => {
      const bytes = new TextEncoder().encode(text.toWellFormed());
      let read = "";
      for (let next = 0; next < bytes.length; ) {
        const part = await outputPart(readerOf(bytes), next, most);
        expect(part.next).toBeGreaterThan(next);
        read += part.text;
        next = part.next;
      }
      expect(read).toBe(text.toWellFormed());
    }),
  );
});

test("bytes that are not UTF-8 are read to their end", async () => {
  const bytes = new Uint8Array(100).fill(0xff);
  let next = 0;
  while (next < bytes.length) next = (await outputPart(readerOf(bytes), next, 7)).next;
  expect(next).toBe(bytes.length);
});

test("the size of the output is found without reading it", async () => {
  for (const size of [0, 1, 2, 3, 4, 7, 8, 1_000, 65_537])
    expect(await outputSize(readerOf(new Uint8Array(size)))).toBe(size);
});
