import { expect, test } from "vitest";
import { quietUntil, readQuietHours } from "./tell-calls.ts";

const at = (hours: number, minutes = 0, day = 15) => new Date(2026, 5, day, hours, minutes).getTime();

test("quiet hours that cross midnight apply on both sides of it, and end in the morning", () => {
  expect(quietUntil("22:00-07:00", at(23))).toBe(at(7, 0, 16));
  expect(quietUntil("22:00-07:00", at(3))).toBe(at(7));
  expect(quietUntil("22:00-07:00", at(7))).toBeUndefined();
  expect(quietUntil("22:00-07:00", at(21, 59))).toBeUndefined();
});

test("quiet hours within one day end on that day", () => {
  expect(quietUntil("12:30-13:15", at(12, 30))).toBe(at(13, 15));
  expect(quietUntil("12:30-13:15", at(13, 15))).toBeUndefined();
});

test.each(["", "22-7", "25:00-07:00", "22:60-07:00", "07:00-07:00"])("%j is not a range of hours", (text) => {
  expect(readQuietHours(text)).toBeUndefined();
  expect(quietUntil(text, at(3))).toBeUndefined();
});
