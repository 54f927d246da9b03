import { expect, test } from "vitest";
import { hasMovedOn, neighbourOf, shownRows } from "./waiting.ts";

test("actions that were read of an earlier state of a task are behind its row", () => {
  const read = { revision: 4, status: "planning" };
  expect(hasMovedOn(read, { revision: 9, status: "reviewing" })).toBe(true);
  // The task was read after the list, was only marked as seen, or has left the list.
  expect(hasMovedOn({ revision: 9, status: "reviewing" }, read)).toBe(false);
  expect(hasMovedOn(read, { revision: 5, status: "planning" })).toBe(false);
  expect(hasMovedOn(read, undefined)).toBe(false);
});

test("a snoozed task is not shown before its time has come", () => {
  const [early, late] = ["2026-11-18T08:00:00.000Z", "2026-11-18T09:00:00.000Z"];
  const rows = [{ snoozedUntil: null }, { snoozedUntil: early }, { snoozedUntil: late }];
  expect(shownRows(rows, Date.parse(early))).toEqual([{ snoozedUntil: null }, { snoozedUntil: early }]);
  expect(shownRows(rows, Date.parse(late))).toEqual(rows);
});

test("after a task the next one comes up, after the last the one before, and the first for one that has left", () => {
  expect(["a", "b", "c", "gone"].map((id) => neighbourOf(["a", "b", "c"], id))).toEqual(["b", "c", "b", "a"]);
  expect(neighbourOf(["a"], "a")).toBeUndefined();
});
