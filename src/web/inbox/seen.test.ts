import { expect, test } from "vitest";
import { snoozeTimes } from "./seen.tsx";

test.each([
  ["a Wednesday", new Date(2026, 10, 18, 21, 30), 19, 23],
  ["a Sunday", new Date(2026, 10, 22, 7, 0), 23, 23],
  ["a Monday, for which the next one is meant", new Date(2026, 10, 23, 7, 0), 24, 30],
])("on %s tasks can be hidden until tomorrow and until Monday, at eight", (_, now, tomorrow, monday) => {
  const [, , day, week] = snoozeTimes(now).map(({ until }) => [until.getDate(), until.getHours()]);
  expect(day).toEqual([tomorrow, 8]);
  expect(week).toEqual([monday, 8]);
});
