import fc from "fast-check";
import { expect, test } from "vitest";
import { delayBefore } from "./duration.ts";
import type { Backoff } from "./workflow.ts";

const crew: Backoff = { first: 2, factor: 2, max: 60 };
const pipeline: Backoff = { first: 5, factor: 2, max: undefined };

test.each([
  { seed: "004", backoff: crew, delays: [2, 4, 8, 16, 32, 60, 60] },
  { seed: "003", backoff: pipeline, delays: [5, 10] },
  { seed: "none", backoff: undefined, delays: [0, 0, 0] },
])("the delays of seed $seed are $delays", ({ backoff, delays }) => {
  expect(delays.map((_, index) => delayBefore(index + 1, backoff))).toEqual(delays);
});

test("the first attempt has no delay", () => {
  expect(delayBefore(0, crew)).toBe(0);
});

test("without a maximum the longest delay is a day, unless the first delay is longer", () => {
  expect(delayBefore(1_000_000, pipeline)).toBe(86_400);
  expect(delayBefore(1_000_000, { first: 100_000, factor: 2, max: undefined })).toBe(100_000);
});

test("delays are finite, stay within the bounds, and never shrink", () => {
  const backoffs = fc.record({
    first: fc.double({ min: 0, max: 1e6, noNaN: true }),
    factor: fc.double({ min: 1, max: 1e6, noNaN: true }),
    max: fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER - 1 }), backoffs, (attempt, backoff) => {
      const delay = delayBefore(attempt, backoff);
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThanOrEqual(backoff.max ?? Math.max(86_400, backoff.first));
      expect(delayBefore(attempt + 1, backoff)).toBeGreaterThanOrEqual(delay);
    }),
  );
});
