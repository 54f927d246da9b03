import fc from "fast-check";
import { expect, test } from "vitest";
import { foldTime, placeOf, ticksOf } from "./fold.ts";

const hour = 3_600_000;
const day = { from: 0, until: 24 * hour };

test("a night in which nothing works is folded, and the work of the day gets its room", () => {
  const pieces = foldTime(day, [
    { from: 0, until: hour },
    { from: 22 * hour, until: 24 * hour },
  ]);
  expect(pieces.map(({ from, until, isFolded }) => [from / hour, until / hour, isFolded])).toEqual([
    [0, 1, false],
    [1, 22, true],
    [22, 24, false],
  ]);
  expect(pieces[1]?.width).toBeLessThan(0.05);
  expect(pieces[2]?.width).toBeCloseTo(2 * (pieces[0]?.width ?? 0));
});

test("nothing is folded where it is switched off, where nothing works at all, or where the pause is short", () => {
  const few = [{ from: 0, until: hour }];
  expect(foldTime(day, few, false).map(({ isFolded }) => isFolded)).toEqual([false]);
  expect(foldTime(day, []).map(({ isFolded }) => isFolded)).toEqual([false]);
  expect(foldTime(day, [{ from: 12 * hour, until: 12 * hour }])).toEqual(foldTime(day, []));
  const short = [
    { from: 0, until: 12 * hour },
    { from: 13 * hour, until: 24 * hour },
  ];
  expect(foldTime(day, short)).toHaveLength(1);
});

test("whatever works when, the pieces fill the width without a gap, and a later time is never drawn before an earlier one", () => {
  const time = fc.integer({ min: -5, max: 30 });
  fc.assert(
    fc.property(fc.array(fc.tuple(time, time)), fc.array(time), (pairs, times) => {
      const busy = pairs.map(([a, b]) => ({ from: Math.min(a, b) * hour, until: Math.max(a, b) * hour }));
      const pieces = foldTime(day, busy);
      let [at, from] = [0, 0];
      for (const piece of pieces) {
        expect(piece.at).toBeCloseTo(at);
        expect(piece.from).toBe(from);
        [at, from] = [at + piece.width, piece.until];
      }
      expect([at, from]).toEqual([expect.closeTo(1), day.until]);
      const places = times.sort((a, b) => a - b).map((each) => placeOf(pieces, each * hour));
      expect(places).toEqual([...places].sort((a, b) => a - b));
      for (const place of places) expect(place >= 0 && place <= 1.000001).toBe(true);
    }),
  );
});

test("times at the axis do not stand on each other", () => {
  const ticks = ticksOf(foldTime(day, [{ from: 3 * hour, until: 20 * hour }]));
  expect(ticks.length).toBeGreaterThan(3);
  for (const [i, { at }] of ticks.entries()) expect(at - (ticks[i - 1]?.at ?? -1)).toBeGreaterThan(0.05);
});

test("an axis with room for few times has few, and its first one", () => {
  const pieces = foldTime(day, [day]);
  const ticks = ticksOf(pieces, 0.3);
  expect(ticks.length).toBeGreaterThan(0);
  expect(ticks.length).toBeLessThanOrEqual(4);
  for (const [i, { at }] of ticks.entries()) expect(at - (ticks[i - 1]?.at ?? -1)).toBeGreaterThan(0.3);
});
