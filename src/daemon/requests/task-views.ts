import type { Routes } from "../../api/routes.ts";
import type { TaskGraph } from "../../api/task-views.ts";
import { explain } from "../../engine/explain.ts";
import { Fault } from "../../fault.ts";
import type { Seen } from "../../ports/records.ts";
import type { StoredEvent, StoredTask } from "../../ports/store.ts";
import { findTask } from "../authorise.ts";
import type { Core } from "../core.ts";
import type { Asked, Handler } from "../handlers.ts";
import { eventsOf, mustHave } from "../project.ts";
import { seenOf } from "../reviewed.ts";
import { isoTime, seenView } from "../views.ts";
import { wholeNumber } from "../whole-number.ts";
import { graphOf } from "../workflow-graph.ts";

export function seeTask(core: Core): Handler<Routes["seeTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { id, project } = stored.task;
    const { revision, commit, unread, snoozedUntil } = asked.body;
    if (revision !== undefined && revision > stored.revision)
      throw new Fault(
        "request.invalid",
        `The task is at revision ${stored.revision}, so nobody has seen ${revision}.`,
        {
          hint: "Name the revision of the task as you got it.",
        },
      );
    if (commit !== undefined) await mustBeCommit(core, stored, commit);
    const until = snoozedUntil === undefined ? undefined : timeIn(snoozedUntil);
    // Showing a diff writes the same record.
    return core.inTurn(seenOf(id), async () => {
      const before: Seen = (await core.store.seen.get(id)) ?? { id, project, task: id, at: 0, commit: "" };
      const { isUnread: _, ...rest } = before;
      const stays = unread ?? (revision === undefined && before.isUnread === true);
      const seen: Seen = {
        ...rest,
        at: core.clock.now(),
        ...(revision === undefined ? {} : { revision: Math.max(revision, before.revision ?? 0) }),
        ...(commit === undefined ? {} : { commit, reviewed: commit }),
        ...(stays ? { isUnread: true } : {}),
        ...(until === undefined ? {} : { snoozedUntil: until }),
      };
      await core.store.seen.put(seen);
      const view = seenView(stored, seen, core.clock.now());
      return { task: id, revision: seen.revision ?? 0, commit: seen.reviewed ?? "", ...view };
    });
  };
}

/** 0 for an empty text: the snooze is over. */
function timeIn(text: string): number {
  if (text === "") return 0;
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new Fault("request.invalid", `${JSON.stringify(text)} is not a time.`, {
    hint: "Write it as 2026-11-15T08:00:00Z.",
  });
}

async function mustBeCommit(core: Core, { task }: StoredTask, commit: string): Promise<void> {
  const project = await mustHave(core, task.project);
  const control = (await core.repositories?.workspacesOf(project))?.control;
  const isKnown =
    control !== undefined && (await control.mergeBase(commit, commit).catch(() => undefined)) !== undefined;
  if (isKnown) return;
  throw new Fault("diff.missing", `${JSON.stringify(commit)} is not the full id of a commit of ${task.project}.`, {
    hint: "Name the commit as the diff did.",
  });
}

/** The last stays of a task that lives very long; a dashboard draws no more. */
const maxStays = 500;

export function taskGraph(core: Core): Handler<Routes["taskGraph"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { task } = stored;
    const { workflow, facts } = await core.lookFor(task);
    const { stays, isCut } = await pathOf(core, task.id);
    return {
      ...{ task: task.id, workflow: task.workflow, hash: task.workflowHash, status: task.status },
      graph: graphOf(workflow),
      path: stays,
      isCut,
      moves: explain(workflow, task, facts).moves,
    };
  };
}

type Stay = TaskGraph["path"][number];

/** The states that a task was in, from its events. */
async function pathOf(
  { store }: Core,
  id: string,
): Promise<{ readonly stays: readonly Stay[]; readonly isCut: boolean }> {
  const stays: Stay[] = [];
  let isCut = false;
  for await (const each of eventsOf(store, id)) {
    const entered = entering(each);
    if (entered === undefined) continue;
    const last = stays.pop();
    // A migration may leave the task in its state.
    if (last !== undefined && each.event.type === "task.migrated" && last.state === entered.state) {
      stays.push(last);
      continue;
    }
    if (last !== undefined) stays.push({ ...last, until: entered.since });
    stays.push(entered);
    if (stays.length <= maxStays) continue;
    stays.shift();
    isCut = true;
  }
  return { stays, isCut };
}

function entering({ event, at }: StoredEvent): Stay | undefined {
  const { type, by, data, set } = event;
  const entered = (state: unknown, cause: unknown): Stay => ({
    ...{ state: String(state), since: isoTime(at), until: null, by },
    ...{ cause: String(cause ?? ""), reason: String(data.reason ?? set.reason ?? "") },
  });
  if (type === "task.created") return entered(data.status, "created");
  if (type === "task.moved") return entered(data.to, data.cause);
  return type === "task.migrated" ? entered(data.status, "migrated") : undefined;
}

const defaultPart = 64_000;
const maxPart = 256_000;

export function getArtifact(core: Core): Handler<Routes["getArtifact"]> {
  return async (asked: Asked<{ project?: string; from?: string; limit?: string }, unknown>) => {
    const { task } = await findTask(core, asked);
    const { hash = "" } = asked.params;
    const from = wholeNumber("from", asked.query.from, 0) ?? 0;
    const limit = wholeNumber("limit", asked.query.limit, 1, maxPart) ?? defaultPart;
    const artifact = (await core.store.listArtifacts(task.id)).findLast((each) => each.hash === hash);
    if (artifact === undefined)
      throw new Fault("artifact.missing", `The task has no artifact ${JSON.stringify(hash.slice(0, 64))}.`, {
        hint: `See its sections: signalbox task show ${task.id}`,
      });
    const { section, text, role, run, commit, at, document } = artifact;
    const part = partOf(text, from, limit);
    const end = from + part.length;
    return {
      ...{ hash, section, role, run, commit, from, text: part, length: text.length, at: isoTime(at) },
      ...{ type: document?.type ?? "", state: document?.state ?? "", next: end < text.length ? end : null },
    };
  };
}

/** A part of a text, cut only between characters. */
function partOf(text: string, from: number, limit: number): string {
  const part = text.slice(from, from + limit);
  const isHalf = /[\uD800-\uDBFF]$/.test(part) && from + limit < text.length;
  return isHalf && part.length > 1 ? part.slice(0, -1) : text.slice(from, from + limit + (isHalf ? 1 : 0));
}
