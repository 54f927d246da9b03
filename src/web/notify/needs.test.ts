import { expect, test } from "vitest";
import type { Row } from "../data/queries.ts";
import { isQuietAt, needsToTell, rulesOf } from "./needs.ts";

const at = (hour: number, minute = 0) => new Date(2026, 10, 15, hour, minute);
const row = (id: string, reason: string, more: Partial<Row> = {}) =>
  ({
    ...{ id, project: "coffee", number: 1, summary: "Brew", snoozedUntil: null },
    ask: { reason, text: "Which beans?", command: "", since: "2026-11-15T08:00:00.000Z" },
    ...more,
  }) as Row;
const open = { quiet: "", reasons: [], urgent: [] };
const tasks = (rows: readonly Row[], rules = {}, now = at(12)) =>
  needsToTell(rows, { ...open, ...rules }, now).map(({ task }) => task);

test("only needs are told, and none of a task that is snoozed", () => {
  const later = new Date(at(13)).toISOString();
  const rows = [
    row("a", "question"),
    row("b", "question", { ask: null }),
    row("c", "question", { snoozedUntil: later }),
  ];
  expect(tasks(rows)).toEqual(["a"]);
  expect(tasks(rows, {}, at(14))).toEqual(["a", "c"]);
});

test("the configuration's reasons and quiet hours hold, and what is urgent is told in them", () => {
  const rows = [row("a", "question"), row("b", "disk")];
  expect(tasks(rows, { reasons: ["disk"] })).toEqual(["b"]);
  expect(tasks(rows, { quiet: "22:00-07:00", urgent: ["disk"] }, at(23))).toEqual(["b"]);
  expect(tasks(rows, { quiet: "22:00-07:00", urgent: ["disk"] }, at(7))).toEqual(["a", "b"]);
});

test("quiet hours may cross midnight", () => {
  expect([21, 22, 3, 7].map((hour) => isQuietAt("22:00-07:00", at(hour)))).toEqual([false, true, true, false]);
  expect([12, 13].map((hour) => isQuietAt("12:30-13:15", at(hour)))).toEqual([false, true]);
  expect(isQuietAt("", at(3))).toBe(false);
});

test("the rules are those of the configuration, whose lists are read as they are written there", () => {
  const settings = [
    { key: "notify.quiet", value: "22:00-07:00" },
    { key: "notify.reasons", value: '[question, "approval"]' },
    { key: "notify.urgent", value: "[]" },
  ];
  expect(rulesOf(settings)).toEqual({ quiet: "22:00-07:00", reasons: ["question", "approval"], urgent: [] });
  expect(rulesOf([])).toEqual(open);
});
