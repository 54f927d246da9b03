import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { type ListQuery, queries, type Row } from "../data/queries.ts";

const maxWaiting = "200";

/** What the inbox lists: tasks that need a person, those that wait longest first. */
export function waitingQuery(project: string | undefined): ListQuery {
  return { group: "needs-me", sort: "waiting", limit: maxWaiting, ...(project === undefined ? {} : { project }) };
}

export function useWaitingQuery() {
  const { project } = useSearch({ from: "__root__" });
  return useQuery(queries.tasks(waitingQuery(project)));
}

/** Those that are not hidden until later. */
export function useWaiting(): readonly Row[] {
  return shownRows(useWaitingQuery().data?.tasks ?? [], Date.now());
}

/** The rows without those that are hidden until later. */
export function shownRows<Each extends Pick<Row, "snoozedUntil">>(rows: readonly Each[], now: number): readonly Each[] {
  return rows.filter(({ snoozedUntil }) => snoozedUntil === null || Date.parse(snoozedUntil) <= now);
}

/** The row to look at after this one is dealt with: the next in the list, or the one before if it was the last. */
export function neighbourOf(ids: readonly string[], id: string): string | undefined {
  const at = ids.indexOf(id);
  return at === -1 ? ids[0] : (ids[at + 1] ?? ids[at - 1]);
}

type Place = Pick<Row, "revision" | "status">;

/** Whether a list knows a task in a later state than what was read of the task itself: its actions then are of another state. */
export function hasMovedOn(read: Place, listed: Place | undefined): boolean {
  return listed !== undefined && listed.revision > read.revision && listed.status !== read.status;
}
