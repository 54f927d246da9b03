import type { ListQuery, Row } from "./queries.ts";

/** Tasks that were read again, by id; undefined for one that is no longer there. */
export type FreshRows = ReadonlyMap<string, Row | undefined>;

/**
 * A list with fresh rows in it: replaced where they are, removed where they no longer belong to it, and put at the front
 * where they have come to belong. Returns the same list if nothing changes, so that nothing is drawn again.
 */
export function patchRows(rows: readonly Row[], query: ListQuery, fresh: FreshRows): readonly Row[] {
  let isChanged = false;
  const known = new Set<string>();
  const kept = rows.flatMap((row) => {
    known.add(row.id);
    if (!fresh.has(row.id)) return [row];
    const now = fresh.get(row.id);
    if (now !== undefined && isOlder(now, row)) return [row];
    isChanged = true;
    return now !== undefined && belongs(now, query) ? [now] : [];
  });
  const come = [...fresh.values()].filter(
    (row): row is Row => row !== undefined && !known.has(row.id) && belongs(row, query),
  );
  if (come.length === 0 && !isChanged) return rows;
  return [...come.sort((a, b) => b.createdAt.localeCompare(a.createdAt)), ...kept];
}

/** An answer that was overtaken by a later one. */
function isOlder(now: Row, row: Row): boolean {
  return now.revision < row.revision;
}

/** Whether the row passes the filters of a list; those that only the daemon can judge count as passed. */
export function belongs(row: Row, query: ListQuery): boolean {
  return (
    (query.project === undefined || row.project === query.project) &&
    (query.status === undefined || row.status === query.status) &&
    (query.parent === undefined || row.parent === query.parent) &&
    (query.open === undefined || (row.outcome === null) === (query.open === "true")) &&
    (query.needs === undefined || row.needsPerson)
  );
}
