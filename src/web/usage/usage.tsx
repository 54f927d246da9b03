import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import type { UsageRow } from "../../api/agents.ts";
import { queries } from "../data/queries.ts";
import { useRowKeys } from "../keys/use-row-keys.ts";
import { type UsageKey, type UsageSearch, usageKeys, type usageWindows } from "../search.ts";
import { costText, shortNumber } from "../text/money.ts";
import { Choice, PageHeader } from "../ui/page-header.tsx";
import { Empty, Loaded, Loading } from "../ui/states.tsx";
import { Budgets } from "./budgets.tsx";
import { seriesOf } from "./series.ts";
import { UsageTable } from "./usage-table.tsx";

const Chart = lazy(() => import("./chart.tsx").then(({ Chart }) => ({ default: Chart })));

const day = 86_400_000;
const windows: Readonly<Record<(typeof usageWindows)[number], readonly [name: string, length: number]>> = {
  "1d": ["last day", day],
  "7d": ["last 7 days", 7 * day],
  "30d": ["last 30 days", 30 * day],
  "90d": ["last 90 days", 90 * day],
  all: ["all", 0],
};
const names: Readonly<Record<UsageKey, string>> = {
  ...{ day: "day", project: "project", task: "task", agent: "named agent", role: "role" },
  ...{ harness: "harness", model: "model" },
};

/** Who has used what, by two keys; what is left of budgets. What is unknown is never shown as nothing. */
export function Usage() {
  const search = useSearch({ from: "/usage" });
  const { project } = useSearch({ from: "__root__" });
  const navigate = useNavigate({ from: "/usage" });
  const { by = "day", and = by === "project" ? "model" : "project", window: chosenWindow = "30d", measure } = search;
  const keys = useMemo(() => (and === "none" || and === by ? [by] : [by, and]), [by, and]);
  const since = useMemo(() => sinceOf(windows[chosenWindow][1]), [chosenWindow]);
  const usage = useQuery({
    ...queries.usage({
      by: keys.join(","),
      budgets: "true",
      ...(project === undefined ? {} : { project }),
      ...(since === "" ? {} : { since }),
    }),
    placeholderData: (before) => before,
  });
  const change = (next: { readonly [Name in keyof UsageSearch]: UsageSearch[Name] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...next }) as UsageSearch, replace: true });
  const rows = usage.data?.rows ?? none;
  useRowKeys(
    rows.map(({ key }) => key),
    search.row,
    (row) => change({ row }),
    (row) => {
      const task = rows.find(({ key }) => key === row)?.keys?.task;
      if (task !== undefined) void navigate({ to: "/tasks/$task", params: { task } });
    },
  );
  const series = useMemo(() => seriesOf(rows, keys, measure ?? "cost"), [rows, keys, measure]);
  return (
    <div className="flex min-h-full flex-col">
      <PageHeader title="Usage">
        <Choice
          label="By"
          value={by}
          options={usageKeys.map((key) => [key, `by ${names[key]}`])}
          onChange={(next) => change({ by: next === "day" ? undefined : next, and: undefined, row: undefined })}
        />
        <Choice
          label="And by"
          value={and === by ? "none" : and}
          options={[
            ["none", "and nothing else"],
            ...usageKeys.filter((key) => key !== by).map((key) => [key, `and ${names[key]}`] as const),
          ]}
          onChange={(next) => change({ and: next, row: undefined })}
        />
        <Choice
          label="Window"
          value={chosenWindow}
          options={Object.entries(windows).map(([key, [name]]) => [key as keyof typeof windows, name])}
          onChange={(next) => change({ window: next === "30d" ? undefined : next })}
        />
        <Choice
          label="Measure"
          value={measure ?? "cost"}
          options={[
            ["cost", "cost"],
            ["tokens", "tokens"],
          ]}
          onChange={(next) => change({ measure: next === "cost" ? undefined : next })}
        />
      </PageHeader>
      <Loaded query={usage} what="the usage">
        {({ total, budgets = [] }) => (
          <>
            <dl className="flex flex-wrap gap-x-8 gap-y-2 px-4 pt-3">
              <Fact name="Cost" value={totalCost(total) || "nothing"} />
              {total.unknown > 0 && (
                <Fact name="Runs without a known cost" value={`${total.unknown} of ${total.runs}`} />
              )}
              <Fact name="Tokens" value={shortNumber(total.inputTokens + total.outputTokens)} />
              <Fact name="Read from a cache" value={shortNumber(total.cachedTokens)} />
              <Fact name="Runs" value={String(total.runs)} />
            </dl>
            <Budgets budgets={budgets} />
            {rows.length === 0 ? (
              <Empty title="Nothing was used in this window">Agents' tokens and costs appear here.</Empty>
            ) : (
              <div className="grid items-start gap-4 p-4 xl:grid-cols-2">
                {series !== undefined && (
                  <section aria-label="Chart" className="min-w-0 rounded-lg border border-line bg-panel p-3">
                    <Suspense fallback={<Loading what="the chart" />}>
                      <Chart series={series} measure={measure ?? "cost"} />
                    </Suspense>
                  </section>
                )}
                <UsageTable
                  rows={rows}
                  keys={keys}
                  names={names}
                  sort={search.sort}
                  chosen={search.row}
                  measure={measure ?? "cost"}
                  onSort={(sort) => change({ sort })}
                  onChoose={(row) => change({ row })}
                  className={series === undefined ? "xl:col-span-2" : ""}
                />
              </div>
            )}
          </>
        )}
      </Loaded>
    </div>
  );
}

const none: readonly UsageRow[] = [];

/** Whole days, so that the same question has the same address all day. */
function sinceOf(length: number): string {
  if (length === 0) return "";
  const at = new Date(Date.now() - length + day);
  at.setHours(0, 0, 0, 0);
  return at.toISOString();
}

export function totalCost({ cost, unknown, runs }: { cost: number; unknown: number; runs: number }): string {
  return runs === 0 ? "" : costText({ dollars: unknown === runs ? null : cost, unknown });
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt className="text-sm text-muted">{name}</dt>
      <dd className="text-xl font-semibold tabular-nums">{value}</dd>
    </div>
  );
}
