import type { EndedMergeView, MergeQueueView } from "../../api/overview.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import type { QueuedMerge } from "../merging/merge-queue.ts";
import { mustHave } from "../project.ts";
import { isoTime } from "../views.ts";
import { wholeNumber } from "../whole-number.ts";

const defaultPage = 50;
const maxPage = 500;

export function listMerges(core: Core): Handler<Routes["listMerges"]> {
  return async ({ query }) => {
    if (query.project !== undefined) await mustHave(core, query.project);
    const limit = wholeNumber("limit", query.limit, 1, maxPage) ?? defaultPage;
    const before = query.before === undefined ? undefined : cursorIn(query.before);
    const matches = ({ project }: { readonly project: string }) =>
      query.project === undefined || project === query.project;
    const queued = (core.repositories?.merging.queued() ?? []).filter(({ entry }) => matches(entry));
    const filter = query.project === undefined ? {} : { project: query.project };
    const ended = (await core.store.merges.list(filter))
      .flatMap((merge) => (merge.endedAt === undefined ? [] : [{ merge, at: merge.endedAt }]))
      .sort(lastFirst)
      .filter((each) => before === undefined || lastFirst(before, each) < 0);
    const page = ended.slice(0, limit);
    const last = page.at(-1);
    return {
      queues: await queuesOf(core, queued),
      ended: await Promise.all(page.map(({ merge, at }) => endedView(core, merge, at))),
      next: last === undefined || ended.length <= limit ? null : `${last.at}.${last.merge.id}`,
    };
  };
}

interface Ended {
  readonly merge: Pick<Merge, "id">;
  readonly at: number;
}

/** Of several merges that ended together, one is always before the other: no page repeats or drops one. */
function lastFirst(a: Ended, b: Ended): number {
  return b.at - a.at || (a.merge.id < b.merge.id ? 1 : a.merge.id > b.merge.id ? -1 : 0);
}

function cursorIn(before: string): Ended {
  const [, at, id] = /^(\d{1,15})\.(.+)$/.exec(before) ?? [];
  if (at !== undefined && id !== undefined) return { merge: { id }, at: Number(at) };
  throw new Fault("request.invalid", "`before` is not what the page before has given.", { hint: "Leave it out." });
}

async function queuesOf(core: Core, queued: readonly QueuedMerge[]): Promise<readonly MergeQueueView[]> {
  const groups = Map.groupBy(queued, ({ entry }) => [entry.project, entry.target, entry.parent ?? ""].join("\n"));
  return Promise.all(
    [...groups.values()].map(async (entries) => {
      const { project = "", target = "", parent = "" } = entries[0]?.entry ?? {};
      return { project, target, parent, entries: await Promise.all(entries.map((each) => entryView(core, each))) };
    }),
  );
}

async function entryView(core: Core, queued: QueuedMerge): Promise<MergeQueueView["entries"][number]> {
  const { entry, waiting } = queued;
  const isTested = core.repositories?.merging.testedAs(entry.task) !== undefined;
  const state = stateOf(queued, isTested);
  return {
    ...(await named(core, entry.task)),
    state,
    reason: state === "waits" ? (waiting?.reason ?? "") : "",
    files: state === "waits" ? [...(waiting?.files ?? [])] : [],
    by: entry.isWorkflows === true ? "workflow" : "person",
    at: isoTime(entry.at),
  };
}

/** An entry that waits is tried again every few seconds, and still waits meanwhile. */
function stateOf({ isLanding, waiting, isPaused }: QueuedMerge, isTested: boolean) {
  if (isTested) return "in-test";
  if (waiting !== undefined) return "waits";
  if (isLanding) return "landing";
  return isPaused ? "paused" : "lined-up";
}

async function endedView(core: Core, merge: Merge, at: number): Promise<EndedMergeView> {
  const {
    task,
    project,
    target,
    parent = "",
    state,
    reason,
    files,
    commit,
    before,
    after,
    by,
    onRemote = false,
  } = merge;
  // The forge's merges have the same commit twice too.
  const isNothing =
    state === "merged" && before === after && (await core.store.pullRequests.get(task))?.state !== "merged";
  const nothing = `Nothing was merged: "${target}" had every commit of its branch already.`;
  return {
    ...(await named(core, task)),
    ...{ project, target, parent, commit, before, onRemote, files: [...files] },
    ...(isNothing ? { reason: reason || nothing, after: "" } : { reason, after }),
    // A merge that has ended is in none of the other two states.
    state: state === "lined-up" || state === "waits" ? "refused" : state,
    by: by === "engine" ? "workflow" : "person",
    at: isoTime(merge.at),
    endedAt: isoTime(at),
  };
}

async function named({ store }: Core, id: string) {
  const task = (await store.getTask(id))?.task;
  return { task: id, number: task?.number ?? 0, summary: task?.summary ?? "" };
}
