import fc from "fast-check";
import { expect, test } from "vitest";
import { clip, displayWidth, fill } from "./display-width.ts";

test("some characters take two columns, some take none", () => {
  expect(["abc", "é", "e\u0301", "コーヒー", "한국", "☕ ok", "🚂", "\u200b"].map(displayWidth)).toEqual([
    ...[3, 1, 1, 8, 4, 4, 2, 0],
  ]);
});

test("what is too long is cut, what is too short is filled, whatever it is written in", () => {
  expect(clip("Make it stronger", 8)).toBe("Make it…");
  expect(clip("コーヒー", 6)).toBe("コー…");
  expect(fill("コーヒー", 6)).toBe("コー… ");
  const anything = fc.string({ unit: fc.constantFrom("a", " ", "é", "コ", "🚂", "\u0301") });
  fc.assert(
    fc.property(anything, fc.integer({ min: 1, max: 12 }), (text, width) => {
      expect(displayWidth(fill(text, width))).toBe(width);
      expect(displayWidth(clip(text, width))).toBeLessThanOrEqual(width);
    }),
  );
});
