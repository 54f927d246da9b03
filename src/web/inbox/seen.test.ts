import { expect, test } from "vitest";
import { laterItems, snoozeTimes } from "./seen.tsx";

test.each([
  ["a Wednesday", new Date(2026, 10, 18, 21, 30), 19, 23],
  ["a Sunday", new Date(2026, 10, 22, 7, 0), 23, 23],
  ["a Monday, for which the next one is meant", new Date(2026, 10, 23, 7, 0), 24, 30],
])("on %s tasks can be hidden until tomorrow and until Monday, at eight", (_, now, tomorrow, monday) => {
  const [, , day, week] = snoozeTimes(now).map(({ until }) => [until.getDate(), until.getHours()]);
  expect(day).toEqual([tomorrow, 8]);
  expect(week).toEqual([monday, 8]);
});

test("a task is hidden until the time that its label names, and shown again by a time that is empty", () => {
  const now = new Date(2026, 10, 18, 21, 30);
  const bodies = (snoozedUntil: string | null) =>
    Object.fromEntries(laterItems({ snoozedUntil }, now).map(({ label, body }) => [label, body]));
  expect(bodies(null)).toMatchObject({
    "Mark as unread": { unread: true },
    "For an hour": { snoozedUntil: new Date(2026, 10, 18, 22, 30).toISOString() },
    "Until tomorrow, 8:00": { snoozedUntil: new Date(2026, 10, 19, 8).toISOString() },
  });
  expect(bodies(new Date(2026, 10, 19, 8).toISOString())).toEqual({
    ...{ "Mark as unread": { unread: true }, "Show it again now": { snoozedUntil: "" } },
  });
  // One that was hidden until a time that is over can be hidden again.
  expect(bodies(new Date(2026, 10, 18, 8).toISOString())).toEqual(bodies(null));
});
