import type { QueryOf } from "./client.ts";
import type { TaskRow as Row, TaskSort, taskListRoutes } from "./task-lists.ts";

type ListQuery = NonNullable<QueryOf<typeof taskListRoutes.listTasks>>;

/**
 * A list in which some tasks were read again: those that it has are replaced, those that belong to it no longer are taken out,
 * and those that have come to belong to it are put in their place. `fresh` has those of `ids` that belong to it now. Returns the
 * same list if nothing changes, so that nothing is drawn again.
 */
export function patchRows(
  rows: readonly Row[],
  ids: ReadonlySet<string>,
  fresh: readonly Row[],
  sort: TaskSort = "newest",
): readonly Row[] {
  const now = new Map(fresh.map((row) => [row.id, row]));
  const known = new Set(rows.map(({ id }) => id));
  const kept = rows.flatMap((row) => {
    const next = now.get(row.id);
    if (next !== undefined) return [isOlder(next, row) ? row : next];
    return ids.has(row.id) ? [] : [row];
  });
  const come = fresh.filter(({ id }) => !known.has(id));
  const isSame = come.length === 0 && kept.length === rows.length && kept.every((row, i) => row === rows[i]);
  return isSame ? rows : [...kept, ...come].sort(orders[sort]);
}

/** Tasks in the order in which the daemon lists them. */
export function sortRows(rows: readonly Row[], sort: TaskSort): readonly Row[] {
  return [...rows].sort(orders[sort]);
}

/** Whether a list can be told from its rows: a search by words looks at more than they have. */
export function isPlain(query: ListQuery): boolean {
  return Object.keys(query).every((name) => plainKeys.includes(name));
}

const plainKeys: readonly string[] = ["project", "group", "open", "sort", "limit"];

/** Whether a task belongs to a plain list, as the daemon decides it. */
export function belongsTo({ project, group, open }: ListQuery, row: Pick<Row, "project" | "group">): boolean {
  return (
    (project === undefined || row.project === project) &&
    (group === undefined || row.group === group) &&
    (open === undefined || (row.group === "over") === (open === "false"))
  );
}

/** An answer that was overtaken by a later one. */
function isOlder(next: Row, row: Row): boolean {
  return next.revision < row.revision;
}

type Order = (a: Row, b: Row) => number;
const newest: Order = (a, b) => b.createdAt.localeCompare(a.createdAt) || b.number - a.number;

/** As the daemon sorts. */
const orders: Readonly<Record<TaskSort, Order>> = {
  newest,
  updated: (a, b) => b.updatedAt.localeCompare(a.updatedAt) || newest(a, b),
  waiting: (a, b) => waitsSince(a).localeCompare(waitsSince(b)) || newest(a, b),
  priority: (a, b) => b.priority - a.priority || newest(a, b),
  cost: (a, b) => (b.cost.dollars ?? -1) - (a.cost.dollars ?? -1) || newest(a, b),
};

/** The beginning of the oldest of a task's needs; a task that needs nothing comes last. */
function waitsSince({ needs }: Row): string {
  return needs.map(({ since }) => since).toSorted()[0] ?? "~";
}
