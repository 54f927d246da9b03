import type { UsageRow } from "../../api/agents.ts";

export interface Series {
  /** The days, as `2026-11-15`. */
  readonly days: readonly string[];
  /** Each with a value for each day; null where a cost is unknown. */
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[];
  /** How many runs of each day have no known cost. */
  readonly unknown: readonly number[];
}

/** More lines than these nobody tells apart: the smaller ones are one line. */
const maxLines = 7;

/** What is drawn over days; undefined if none of the keys is the day. Days between the first and the last are not left out. */
export function seriesOf(
  rows: readonly UsageRow[],
  by: readonly string[],
  measure: "cost" | "tokens",
): Series | undefined {
  if (!by.includes("day") || rows.length === 0) return undefined;
  const other = by.find((key) => key !== "day");
  const days = daysBetween(rows.map(({ keys }) => keys?.day ?? ""));
  const groups = Map.groupBy(rows, ({ keys }) => (other === undefined ? "all" : (keys?.[other] ?? "") || "none"));
  const size = (all: readonly UsageRow[]) => all.reduce((sum, row) => sum + amountOf(row, measure), 0);
  const sorted = [...groups].sort(([, a], [, b]) => size(b) - size(a));
  const shown = sorted.length <= maxLines ? sorted : sorted.slice(0, maxLines - 1);
  const rest = sorted.slice(shown.length).flatMap(([, all]) => all);
  const all = rest.length === 0 ? shown : [...shown, [`${sorted.length - shown.length} others`, rest] as const];
  const ofDay = (day: string, own: readonly UsageRow[]) => own.filter(({ keys }) => keys?.day === day);
  return {
    days,
    lines: all.map(([name, own]) => ({
      name: nameOf(name, own, other),
      values: days.map((day) => amountOn(ofDay(day, own), measure)),
    })),
    unknown: days.map((day) => ofDay(day, rows).reduce((sum, row) => sum + row.unknown, 0)),
  };
}

/** Tasks are called as people call them, not by their id. */
function nameOf(key: string, rows: readonly UsageRow[], other: string | undefined): string {
  const [row] = rows;
  if (other !== "task" || row?.keys?.task !== key) return key;
  return row.name.replace(row.keys.day ?? "", "").trim();
}

function amountOn(rows: readonly UsageRow[], measure: "cost" | "tokens"): number | null {
  const isUnknown = measure === "cost" && rows.length > 0 && rows.every(({ runs, unknown }) => runs === unknown);
  return isUnknown ? null : rows.reduce((sum, row) => sum + amountOf(row, measure), 0);
}

export function amountOf({ cost, inputTokens, outputTokens }: UsageRow, measure: "cost" | "tokens"): number {
  return measure === "cost" ? cost : inputTokens + outputTokens;
}

const maxDays = 400;

function daysBetween(days: readonly string[]): readonly string[] {
  const sorted = [...days].sort();
  const [first = "", last = ""] = [sorted[0], sorted.at(-1)];
  const all: string[] = [];
  // At noon UTC no change of clocks moves a date.
  for (let at = Date.parse(`${first}T12:00:00Z`); all.length < maxDays; at += 86_400_000) {
    const day = new Date(at).toISOString().slice(0, 10);
    if (day > last) break;
    all.push(day);
  }
  return all;
}
