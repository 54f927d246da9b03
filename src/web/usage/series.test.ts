import { expect, test } from "vitest";
import type { UsageRow } from "../../api/agents.ts";
import { seriesOf } from "./series.ts";

const row = (day: string, project: string, more: Partial<UsageRow>): UsageRow => ({
  ...{ key: `${day} ${project}`, name: `${day} ${project}`, keys: { day, project }, runs: 1, unknown: 0, duration: 0 },
  ...{ inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0 },
  ...more,
});

test("each project is a line over the days, also over those on which nothing was used", () => {
  const rows = [row("2026-11-01", "coffee", { cost: 2 }), row("2026-11-03", "tea", { cost: 5 })];
  expect(seriesOf(rows, ["day", "project"], "cost")).toEqual({
    days: ["2026-11-01", "2026-11-02", "2026-11-03"],
    lines: [
      { name: "tea", values: [0, 0, 5] },
      { name: "coffee", values: [2, 0, 0] },
    ],
    unknown: [0, 0, 0],
  });
});

test("a day whose costs are all unknown has a hole in its line, and not a zero; its tokens are known", () => {
  const rows = [row("2026-11-01", "coffee", { runs: 2, unknown: 2, inputTokens: 7 })];
  expect(seriesOf(rows, ["day"], "cost")).toMatchObject({ lines: [{ values: [null] }], unknown: [2] });
  expect(seriesOf(rows, ["day"], "tokens")).toMatchObject({ lines: [{ values: [7] }] });
});

test("without the day there is nothing to draw over time, and many lines become one", () => {
  expect(seriesOf([row("2026-11-01", "a", {})], ["project", "model"], "cost")).toBeUndefined();
  const many = Array.from({ length: 12 }, (_, i) => row("2026-11-01", `p${i}`, { cost: 12 - i }));
  const { lines = [] } = seriesOf(many, ["day", "project"], "cost") ?? {};
  expect(lines.map(({ name }) => name)).toEqual(["p0", "p1", "p2", "p3", "p4", "p5", "6 others"]);
  expect(lines.at(-1)?.values).toEqual([6 + 5 + 4 + 3 + 2 + 1]);
});
