import type { ActionView, ExplanationView } from "../../api/tasks.ts";
import type { Row } from "../data/queries.ts";

export interface Column {
  /** The state. */
  readonly name: string;
  readonly rows: readonly Row[];
}

/** The workflows of the rows, the one with the most tasks first. */
export function workflowsOf(rows: readonly Row[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { workflow } of rows) counts.set(workflow, (counts.get(workflow) ?? 0) + 1);
  return [...counts].sort(([a, m], [b, n]) => n - m || a.localeCompare(b)).map(([name]) => name);
}

/** A column for each state of the workflow, in its order; states that an older version of it had come last. */
export function columnsOf(states: readonly string[], rows: readonly Row[]): readonly Column[] {
  const byState = Map.groupBy(rows, ({ status }) => status);
  const names = new Set([...states, ...byState.keys()]);
  return [...names].map((name) => ({ name, rows: byState.get(name) ?? [] }));
}

export type Direction = "up" | "down" | "left" | "right";

/** The card to choose next; left and right skip empty columns and keep the height. */
export function cardBeside(
  columns: readonly Column[],
  id: string | undefined,
  direction: Direction,
): string | undefined {
  const filled = columns.filter(({ rows }) => rows.length > 0);
  const column = filled.findIndex(({ rows }) => rows.some((row) => row.id === id));
  if (column === -1) return filled[0]?.rows[0]?.id;
  const own = filled[column]?.rows ?? [];
  const at = own.findIndex((row) => row.id === id);
  if (direction === "up" || direction === "down") return own[at + (direction === "down" ? 1 : -1)]?.id ?? id;
  const beside = filled[column + (direction === "right" ? 1 : -1)]?.rows;
  return beside === undefined ? id : beside[Math.min(at, beside.length - 1)]?.id;
}

/** The column left or right of one. */
export function columnBeside(columns: readonly Column[], name: string, by: 1 | -1): string {
  const at = columns.findIndex((column) => column.name === name);
  return columns[at + by]?.name ?? name;
}

/** What follows when a card is put into a column: the action that brings the task there, or why none does. */
export function dropOn(
  actions: readonly ActionView[],
  moves: ExplanationView["moves"],
  from: string,
  to: string,
): { readonly action: ActionView } | { readonly why: string } {
  // A merge brings a task to its end, a plain move would not; both lead there.
  const wordless = actions.filter((action) => action.to === to && !asksWords.includes(action.name));
  const [allowed] = wordless.filter((action) => action.allowed);
  if (allowed !== undefined) return { action: allowed };
  const refused = wordless.find(({ why }) => why !== "")?.why;
  if (refused !== undefined) return { why: refused };
  const move = moves.find((each) => each.to === to);
  if (move !== undefined) {
    const missing = move.missing.join(" ");
    return { why: missing !== "" ? missing : `Only ${move.by.join(" or ")} can move it to ${to}.` };
  }
  const targets = actions.filter((action) => action.name === "move" && action.allowed).map((action) => action.to);
  const others =
    targets.length === 0 ? "A person can move it nowhere now." : `A person can move it to: ${targets.join(", ")}.`;
  return { why: `No way leads from ${from} to ${to}. ${others}` };
}

/**
 * What the person must confirm before a dropped card is moved; undefined if it is moved at once. A plain move is what the person
 * has just done by hand, unless something follows from it beyond the task.
 */
export function dangerOfDrop(
  { name, consequence }: Pick<ActionView, "name" | "consequence">,
  danger: string | undefined,
  isEnd: boolean,
): string | undefined {
  if (isEnd) return danger ?? "The task ends.";
  return name === "move" && consequence === "none" ? undefined : danger;
}

const asksWords: readonly string[] = ["answer", "reply", "request-changes"];
