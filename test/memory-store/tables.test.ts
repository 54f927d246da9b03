import fc from "fast-check";
import { expect, test } from "vitest";
import { frozenCopy, snapshot } from "./tables.ts";

const anything = fc.object({ withDate: true, withNullPrototype: true, withSparseArray: true, maxDepth: 4 });

test("a copy equals the result of a JSON round trip, and is immutable", () => {
  fc.assert(
    fc.property(anything, (value) => {
      const kept = frozenCopy(value);
      expect(kept).toEqual(JSON.parse(JSON.stringify(value)));
      expect(JSON.stringify(kept)).toBe(JSON.stringify(value));
      expect(isFrozen(kept)).toBe(true);
    }),
  );
});

test("values that JSON refuses are refused", () => {
  const round: Record<string, unknown> = {};
  round.again = { round };
  expect(() => frozenCopy(round)).toThrow(TypeError);
  expect(() => frozenCopy({ amount: 1n })).toThrow(TypeError);
});

test("a copy does not change when its source changes", () => {
  const given = { labels: ["hot"] };
  const kept = snapshot(given);
  given.labels.push("cold");
  expect(kept.read()).toEqual({ labels: ["hot"] });
  expect(kept.toJSON()).toBe('{"labels":["hot"]}');
});

function isFrozen(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozen);
}
