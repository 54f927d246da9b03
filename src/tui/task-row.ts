import type { RunView } from "../api/agents.ts";
import { shownStatus } from "../api/shown-status.ts";
import { filled, safeLine, widthOf } from "./cells.ts";
import { age, money, shortNumber } from "./figures.ts";
import { nameOf, type State, type TaskRow } from "./state.ts";
import type { Mark, Role, Style } from "./style.ts";

type Column = "name" | "summary" | "state" | "age" | "what" | "agent" | "lines" | "checks" | "cost";
export type Widths = Readonly<Record<Column, number>>;

/** What is dropped last comes first. The summary always stays. */
const ranks: readonly Column[] = ["name", "state", "age", "what", "agent", "lines", "cost", "checks"];
/** From left to right. */
const order: readonly Column[] = ["name", "summary", "state", "age", "agent", "what", "lines", "checks", "cost"];
const minSummary = 18;
const minWhat = 12;
const maxSummary = 48;
/** The cursor, the mark of the state, and the space behind them. */
const lead = 3;

/** How wide each column is; 0 for a dropped column. */
export function widthsOf(tasks: readonly TaskRow[], columns: number): Widths {
  const longest = (texts: readonly string[], least: number, most: number) =>
    Math.min(most, Math.max(least, ...texts.map(widthOf)));
  const known = tasks.slice(0, 300);
  const wanted: Record<Column, number> = {
    name: longest(known.map(nameOf), 8, columns < 100 ? 12 : 18),
    summary: minSummary,
    state: longest(known.map(shownStatus), 6, columns < 100 ? 11 : 14),
    age: 4,
    what: minWhat,
    agent: columns < 100 ? 10 : 16,
    lines: 11,
    cost: 8,
    checks: 6,
  };
  const widths: Record<Column, number> = { ...empty, summary: minSummary };
  let free = columns - lead - minSummary;
  for (const column of ranks) {
    if (free < wanted[column] + 2) continue;
    widths[column] = wanted[column];
    free -= wanted[column] + 2;
  }
  // What is left goes to the texts.
  const forSummary = widths.what === 0 ? free : Math.min(maxSummary - minSummary, Math.floor(free / 2));
  widths.summary += Math.max(0, forSummary);
  if (widths.what > 0) widths.what += Math.max(0, free - Math.max(0, forSummary));
  return widths;
}

const empty: Widths = { name: 0, summary: 0, state: 0, age: 0, what: 0, agent: 0, lines: 0, checks: 0, cost: 0 };

/** The titles of the columns. */
export function headOf(widths: Widths, style: Style): string {
  const titles: Record<Column, string> = {
    ...{ name: "TASK", summary: "SUMMARY", state: "STATE", age: "FOR", agent: "AGENT", what: "WHAT IT DOES OR ASKS" },
    ...{ lines: "+/-", checks: "CHECKS", cost: "COST" },
  };
  const cells = order.flatMap((column) =>
    widths[column] === 0
      ? []
      : [filled(titles[column], widths[column], right.has(column) ? "right" : "left", style.more)],
  );
  return style.paint("quiet", `${" ".repeat(lead)}${cells.join("  ")}`);
}

const right: ReadonlySet<Column> = new Set(["age", "lines", "cost"]);

/** One line of `width` columns for a task. It is made anew only where something in it has changed. */
export function rowOf(task: TaskRow, state: State, widths: Widths, style: Style, width: number): string {
  const run = runOf(state, task.id);
  const parts = [run, age(task.since, state.now), widths, style, state.chosen.has(task.id), width];
  const known = drawn.get(task);
  if (known?.parts.every((part, i) => part === parts[i])) return known.line;
  const line = filled(makeRow(task, run, state, widths, style), width);
  drawn.set(task, { parts, line });
  return line;
}

const drawn = new WeakMap<TaskRow, { readonly parts: readonly unknown[]; readonly line: string }>();

function makeRow(task: TaskRow, run: RunView | undefined, state: State, widths: Widths, style: Style): string {
  const { now } = state;
  const isOver = task.group === "over";
  const texts: Record<Column, string> = {
    name: nameOf(task),
    summary: safeLine(task.summary) || "(no summary)",
    state: safeLine(shownStatus(task)),
    age: age(task.since, now),
    agent: run === undefined ? "" : `${run.key} ${run.harness}`,
    what: safeLine(whatOf(task, run)),
    lines: task.lines === null ? "" : `+${shortNumber(task.lines.added)}/-${shortNumber(task.lines.removed)}`,
    checks: task.checks === null || task.checks === "none" ? "" : checkWords[task.checks],
    cost: money(task.cost.dollars, task.cost.unknown),
  };
  const roles: Partial<Record<Column, Role>> = isOver
    ? {}
    : {
        name: "strong",
        state: "accent",
        ...(task.group === "needs-me" ? { what: "ask" } : {}),
        ...(task.checks === "failing" ? { checks: "bad" } : task.checks === "passing" ? { checks: "good" } : {}),
      };
  const cells = order.flatMap((column) => {
    if (widths[column] === 0) return [];
    const cell = filled(texts[column], widths[column], right.has(column) ? "right" : "left", style.more);
    const role = isOver ? "quiet" : roles[column];
    return [role === undefined ? cell : style.paint(role, cell)];
  });
  const [mark, role] = markOf(task);
  const chosen = state.chosen.has(task.id) ? style.mark("chosen") : " ";
  return `${chosen}${style.paint(role, style.mark(mark))} ${cells.join("  ")}`;
}

/** The live run of a task, of several the one that works. */
export function runOf({ runs }: Pick<State, "runs">, task: string): RunView | undefined {
  let index = byTask.get(runs);
  if (index === undefined) {
    index = new Map();
    for (const run of runs.values()) {
      if (run.activity === "ended") continue;
      const found = index.get(run.task);
      if (found === undefined || (found.activity !== "busy" && run.activity === "busy")) index.set(run.task, run);
    }
    byTask.set(runs, index);
  }
  return index.get(task);
}
const byTask = new WeakMap<State["runs"], Map<string, RunView>>();

function whatOf(task: TaskRow, run: RunView | undefined): string {
  if (task.ask !== null) return task.ask.text;
  if (task.group === "over") return task.reason;
  return run !== undefined && run.what !== "" ? run.what : task.doing;
}

export function markOf(task: TaskRow): readonly [Mark, Role] {
  if (task.outcome === "failed" || task.outcome === "cancelled")
    return ["bad", task.outcome === "failed" ? "bad" : "quiet"];
  if (task.group === "needs-me") return ["needs-me", "ask"];
  if (task.paused !== "") return ["paused", "quiet"];
  if (task.undone) return ["bad", "quiet"];
  const role: Role = task.group === "over" ? "good" : task.group === "running" ? "good" : "quiet";
  return [task.group, role];
}

const checkWords = { passing: "pass", failing: "FAIL", unfinished: "wait" } as const;
