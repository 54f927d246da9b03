import type { UsageRow } from "../../api/agents.ts";
import type { UsageKey, UsageSearch } from "../search.ts";
import { costText, shortNumber } from "../text/money.ts";
import { shortDuration } from "../text/time.ts";
import { visibleLine } from "../text/visible.ts";
import { amountOf } from "./series.ts";

type Sort = NonNullable<UsageSearch["sort"]>;

/** The numbers, sortable by each column, with a bar of each row's share. */
export function UsageTable({
  rows,
  keys,
  names,
  sort,
  chosen,
  measure,
  onSort,
  onChoose,
  className,
}: {
  rows: readonly UsageRow[];
  keys: readonly UsageKey[];
  names: Readonly<Record<UsageKey, string>>;
  sort: Sort | undefined;
  chosen: string | undefined;
  measure: "cost" | "tokens";
  onSort: (sort: Sort | undefined) => void;
  onChoose: (row: string) => void;
  className: string;
}) {
  const sorted = sort === undefined ? rows : [...rows].sort(orders[sort]);
  const largest = Math.max(...rows.map((row) => amountOf(row, measure)));
  const head = (id: Sort, title: string) => (
    <th
      aria-sort={sort === id ? (id === "name" ? "ascending" : "descending") : undefined}
      className={`px-3 py-1.5 font-medium whitespace-nowrap ${id === "name" ? "" : "text-right"}`}
    >
      <button type="button" onClick={() => onSort(sort === id ? undefined : id)} className="hover:text-ink">
        {title}
        {sort === id && (id === "name" ? " ↑" : " ↓")}
      </button>
    </th>
  );
  return (
    <section
      aria-label="Table"
      className={`min-w-0 overflow-x-auto rounded-lg border border-line bg-panel ${className}`}
    >
      <table className="w-full text-left">
        <thead className="text-sm text-muted">
          <tr>
            {head("name", keys.map((key) => names[key]).join(", "))}
            {head("cost", "Cost")}
            {head("tokens", "Tokens")}
            {head("runs", "Runs")}
            {head("duration", "Time")}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr
              key={row.key}
              aria-selected={row.key === chosen}
              onClick={() => onChoose(row.key)}
              className={`border-t border-line ${row.key === chosen ? "bg-chosen" : "hover:bg-hover"}`}
            >
              <td className="relative px-3 py-1.5">
                <span
                  aria-hidden
                  className="absolute inset-y-1 left-0 rounded-r bg-accent/15"
                  style={{ width: `${largest > 0 ? (100 * amountOf(row, measure)) / largest : 0}%` }}
                />
                <span className="relative">{visibleLine(row.name) || <span className="text-muted">none</span>}</span>
              </td>
              <td className="px-3 py-1.5 text-right whitespace-nowrap tabular-nums">
                <Cost row={row} />
              </td>
              <td className="px-3 py-1.5 text-right tabular-nums">{shortNumber(row.inputTokens + row.outputTokens)}</td>
              <td className="px-3 py-1.5 text-right tabular-nums">{row.runs}</td>
              <td className="px-3 py-1.5 text-right whitespace-nowrap tabular-nums">{shortDuration(row.duration)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cost({ row: { cost, unknown, runs } }: { row: UsageRow }) {
  const text = costText({ dollars: unknown === runs ? null : cost, unknown });
  if (unknown === 0) return text;
  return (
    <span title={`${unknown} of ${runs} runs have no known cost`} className="text-muted">
      {text}
    </span>
  );
}

const orders: Readonly<Record<Sort, (a: UsageRow, b: UsageRow) => number>> = {
  name: (a, b) => a.name.localeCompare(b.name),
  cost: (a, b) => b.cost - a.cost || b.unknown - a.unknown,
  tokens: (a, b) => amountOf(b, "tokens") - amountOf(a, "tokens"),
  runs: (a, b) => b.runs - a.runs,
  duration: (a, b) => b.duration - a.duration,
};
