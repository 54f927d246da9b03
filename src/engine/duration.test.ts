import fc from "fast-check";
import { expect, test } from "vitest";
import { readDuration, writeDuration } from "./duration.ts";

test.each([
  ["500ms", 0.5],
  ["5s", 5],
  ["5m", 300],
  ["2h", 7200],
  ["1d", 86_400],
  ["1.5h", 5400],
  ["1.1m", 66],
  ["30", 30],
  [30, 30],
  [2.5, 2.5],
  ["0s", 0],
])("%s is %d seconds", (text, seconds) => {
  expect(readDuration(text)).toBe(seconds);
});

test.each(["", "s", "5 m", " 5m", "-5s", "+5s", "5M", "5 minutes", "1h30m", "5.s", ".5s", "1e3s", "5w", "constructor"])(
  "%j is no duration",
  (text) => {
    expect(readDuration(text)).toBeUndefined();
  },
);

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("%d is not a duration", (number) => {
  expect(readDuration(number)).toBeUndefined();
});

test("a number that is too large is not a duration", () => {
  expect(readDuration(`${"9".repeat(400)}d`)).toBeUndefined();
});

test.each([
  [0, "0s"],
  [0.5, "500ms"],
  [1.5, "1.5s"],
  [60, "1m"],
  [90, "90s"],
  [5400, "90m"],
  [7200, "2h"],
  [86_400, "1d"],
])("%d seconds are written %s", (seconds, text) => {
  expect(writeDuration(seconds)).toBe(text);
});

test("a written duration is read back unchanged", () => {
  const seconds = fc.oneof(
    fc.integer({ min: 0, max: 1e12 }).map((milliseconds) => milliseconds / 1000),
    fc.integer({ min: 0, max: 1e6 }).map((minutes) => minutes * 60),
  );
  fc.assert(fc.property(seconds, (value) => readDuration(writeDuration(value)) === value));
});

test("reading a duration never throws", () => {
  fc.assert(fc.property(fc.string(), (text) => (readDuration(text) ?? 0) >= 0));
});
