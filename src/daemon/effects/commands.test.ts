import fc from "fast-check";
import { expect, test } from "vitest";
import { createHeadAndTail } from "./commands.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const kept = (limit: number, chunks: readonly Uint8Array[]) => {
  const both = createHeadAndTail(limit);
  for (const chunk of chunks) both.add(chunk);
  return both.text();
};

test("output that fits is kept whole", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 300, size: "max" }), { maxLength: 20 }), (texts) => {
      expect(kept(100_000, texts.map(bytes))).toBe(texts.join(""));
    }),
  );
});

test("a character may be split between two chunks", () => {
  const whole = bytes("größe 日本 👩‍💻");
  expect(
    kept(
      1000,
      [...whole].map((byte) => Uint8Array.of(byte)),
    ),
  ).toBe("größe 日本 👩‍💻");
});

test("of long output both ends are kept, with a line that says how much is missing", () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => `line ${index}\n`);
  const text = kept(10_000, lines.map(bytes));
  const [, head = "", missing, tail = ""] =
    /^([\s\S]*)\n… (\d+) bytes are left out here …\n([\s\S]*)$/.exec(text) ?? [];
  expect(head).toMatch(/^line 0\nline 1\n/);
  expect(tail).toMatch(/line 19999\n$/);
  expect(head.length + Number(missing) + tail.length).toBe(lines.join("").length);
  expect(Math.min(head.length, tail.length)).toBeGreaterThan(3500);
});

test("the kept text never exceeds its limit, whatever is added in whatever chunks", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 1000 }),
      fc.array(fc.uint8Array({ maxLength: 500, size: "max" }), { maxLength: 6, size: "max" }),
      (limit, chunks) => {
        expect(bytes(kept(limit, chunks)).length).toBeLessThanOrEqual(limit);
      },
    ),
  );
});
