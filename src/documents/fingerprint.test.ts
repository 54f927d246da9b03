import fc from "fast-check";
import { expect, test } from "vitest";
import { fingerprint } from "./task-document.ts";

const text = fc.string({ unit: "binary", maxLength: 60 });

test("a fingerprint is 64 bits in hex and the length", () => {
  expect(fingerprint("")).toMatch(/^[0-9a-f]{16}-0$/);
  expect(fingerprint("DONE: all of it")).toMatch(/^[0-9a-f]{16}-15$/);
});

test("fingerprints stay the same from version to version, because stored tasks contain them", () => {
  expect(fingerprint("Verdict: PASS")).toBe("a8655636013f5ada-13");
});

test("equal texts have equal fingerprints, however they were built", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const whole = `${before}—${after}`;
      expect(fingerprint(whole.slice(0, before.length))).toBe(fingerprint(before));
    }),
  );
});

test("a fingerprint changes with any single character, even at the same length", () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }),
      fc.nat(),
      fc.string({ minLength: 1, maxLength: 1 }),
      (original, at, other) => {
        const index = at % original.length;
        fc.pre(original[index] !== other);
        const changed = original.slice(0, index) + other + original.slice(index + 1);
        expect(fingerprint(changed)).not.toBe(fingerprint(original));
      },
    ),
  );
});

test("texts that differ only in the order of their words have different fingerprints", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8, maxLength: 8 }), fc.string({ minLength: 8, maxLength: 8 }), (one, two) => {
      fc.pre(one !== two);
      expect(fingerprint(one + two)).not.toBe(fingerprint(two + one));
    }),
  );
});

test("very similar texts all have different fingerprints", () => {
  const seen = new Set<string>();
  for (let number = 0; number < 50_000; number++) seen.add(fingerprint(`Verdict: ${number.toString(2)}`).slice(0, 16));
  expect(seen.size).toBe(50_000);
});

test("a fingerprint covers texts of any size", () => {
  const large = "x".repeat(200_000);
  expect(fingerprint(large)).not.toBe(fingerprint(`${large.slice(1)}y`));
  expect(fingerprint("x".repeat(21_845))).not.toBe(fingerprint("x".repeat(21_846)));
});
