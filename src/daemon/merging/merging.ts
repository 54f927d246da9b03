import type { EventData } from "../../engine/decision.ts";
import { sentences } from "../../engine/sentence.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Merge } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Submit } from "../submit.ts";
import type { Turns } from "../turns.ts";
import { type Entry, type Landing, unwanted } from "./entry.ts";
import { type GiveBackPorts, giveBack } from "./give-back.ts";
import { hasAll, hasArrived, isInTarget, type LandEntriesPorts, landEntries } from "./land-entries.ts";
import { createMergeQueue } from "./merge-queue.ts";
import { type MergeEventType, noteMerge } from "./note-merge.ts";

export interface MergingPorts extends LandEntriesPorts, Pick<GiveBackPorts, "workflowOf"> {
  readonly clock: Clock;
  readonly submit: Submit;
  readonly inTurn: Turns;
  /** Whether a person has paused a project. */
  isPaused?(project: string): boolean;
  onError(error: unknown): void;
}

export interface Wanted {
  readonly target: string;
  readonly strategy: "merge" | "ff";
  /** The state that the task moves to afterwards; empty where its workflow goes on by itself. */
  readonly to: string;
  readonly by: string;
  /** The commit that was approved: nothing else is merged. */
  readonly only?: string;
  /** What conflicts goes back to the task's agent. */
  readonly givesBack?: boolean;
  /** What is not committed stays where it is; otherwise nothing is merged then. */
  readonly leaves?: boolean;
}

export interface Merging {
  /** Puts a task in line. Resolves when it is merged and has moved, when it cannot be, or when it has to wait. */
  ask(task: Task, wanted: Wanted): Promise<Merge>;
  /** The same, but resolves only in the end: waiting is no answer. */
  askAndWait(task: Task, wanted: Wanted): Promise<Merge>;
  /** The work has arrived; what is left is to move the task. */
  finish(merge: Merge): Promise<Merge>;
  /** Those before a task in its line; undefined where it is in none. */
  before(task: string): number | undefined;
  /** Somebody has been resumed: what only workflows want goes on. */
  resumed(): void;
  /** A task has changed: what was asked for in another state is not wanted any more. */
  noticed(stored: StoredTask): void;
  /** Takes up what people have asked for before we were stopped. Workflows ask again by themselves. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

/** An agent may go on committing while its task is merged. More often than this it has to be asked to stop. */
const mostTurns = 5;
/** Before what failed is tried again, in milliseconds. */
const pause = 5_000;

export function createMerging(ports: MergingPorts): Merging {
  const { store, clock } = ports;
  const listeners = new Map<string, Set<(merge: Merge) => void>>();
  let stopped = false;
  const under = new Map<string, { readonly going: Promise<Merge>; readonly entry: number }>();

  const note = async <Type extends MergeEventType>(merge: Merge, type: Type, data: EventData<Type>) => {
    await noteMerge(ports, merge, type, data);
    for (const listener of listeners.get(merge.task) ?? []) listener(merge);
  };

  const queue = createMergeQueue({
    clock,
    onError: ports.onError,
    isPaused: (project) => ports.isPaused?.(project) === true,
    land: (project, target, entries) =>
      ports.inTurn(lineOf(project, target), () => landEntries(ports, project, target, entries)),
    async waits({ task }, { reason, files }) {
      const merge = await store.merges.get(task);
      if (merge !== undefined)
        await note({ ...merge, state: "waits", reason, files }, "merge.waits", { reason, files });
    },
  });

  /** From the line to the end. Does the same after a restart as it would have done before. */
  const go = async (task: Task, merge: Merge): Promise<Merge> => {
    const { target, strategy, at } = merge;
    const entry: Entry = {
      ...{ task: task.id, project: task.project, target, strategy, at, priority: task.priority },
      isWorkflows: merge.by === "engine",
    };
    let landing = await queue.add(entry);
    const turns = merge.only === undefined ? mostTurns : 1;
    for (let turn = 1; landing.kind === "merged" && turn < turns && !(await hasAll(ports, task.id, merge)); turn++)
      landing = await queue.add(entry);
    const known = (await store.merges.get(task.id)) ?? merge;
    const ended = endOf(known, landing, known.after !== "" && (await isInTarget(ports, known, known.after)));
    if (landing.kind !== "merged") {
      const done = { ...ended, endedAt: clock.now() };
      await note(done, "merge.failed", { word: landing.kind, reason: landing.reason, files: landing.files });
      return landing.kind === "conflict" ? afterConflict(done) : done;
    }
    const { commit, before, after } = ended;
    await note(ended, "merge.landed", { commit, before, after });
    return finish(ended);
  };

  /** The merge has failed whatever becomes of this. */
  const afterConflict = async (merge: Merge): Promise<Merge> => {
    try {
      const givenBack = await giveBack(ports, merge);
      if (givenBack === undefined) return merge;
      await store.merges.put({ ...merge, givenBack });
      return { ...merge, givenBack };
    } catch (error) {
      ports.onError(error);
      return merge;
    }
  };

  const finish = async (merge: Merge): Promise<Merge> => {
    await closeLocalRequest(store, merge.task, merge.commit);
    const done = { ...merge, reason: await move(ports, merge), endedAt: clock.now() };
    await store.merges.put(done);
    return done;
  };

  const begin = (task: Task, merge: Merge): Promise<Merge> => {
    const going = go(task, merge).finally(() => under.delete(task.id));
    under.set(task.id, { going, entry: task.entry });
    // Workflows ask again by themselves. A person may have been told long ago that it only has to wait.
    if (merge.to !== "") going.catch((error) => takeUpLater(task.id, error));
    return going;
  };

  /** Goes on with what a person has asked for, from where it was left, and ends what nobody wants any more. */
  const takeUp = async (id: string): Promise<void> => {
    const [merge, stored] = [await store.merges.get(id), await store.getTask(id)];
    if (merge === undefined || merge.endedAt !== undefined || stored === undefined || under.has(id)) return;
    const isWanted = isSameStay(merge, stored.task);
    // Workflows ask again by themselves.
    if (isWanted && merge.to === "") return;
    // Where the work has arrived it is not looked at again: on a forge it may have become another commit.
    if (merge.state === "merged") await finish(merge);
    else if (!isWanted) await endUnwanted(merge);
    // It sees to what fails itself.
    else begin(stored.task, merge).catch(() => {});
  };
  /** We may have been killed after we published it: then it has arrived, although nobody wants it any more. */
  const endUnwanted = async (merge: Merge): Promise<void> => {
    const { commit, before, after } = merge;
    const isThere = after !== "" && (await hasArrived(ports, merge, after));
    // Its workflow may want it again, and have asked meanwhile.
    if (under.has(merge.task)) return;
    if (!isThere) {
      const ended = endOf({ ...merge, endedAt: clock.now() }, unwanted, false);
      return note(ended, "merge.failed", { word: "refused", reason: ended.reason, files: [] });
    }
    const arrived: Merge = { ...merge, state: "merged", reason: "", files: [] };
    await note(arrived, "merge.landed", { commit, before, after });
    await finish(arrived);
  };
  const later = new Set<() => void>();
  const takeUpLater = (id: string, error: unknown) => {
    if (stopped || (error instanceof Fault && error.code === "merge.stopped")) return;
    ports.onError(error);
    const cancel = clock.after(pause, () => {
      later.delete(cancel);
      takeUp(id).catch((again) => takeUpLater(id, again));
    });
    later.add(cancel);
  };

  const askAndWait = async (task: Task, wanted: Wanted): Promise<Merge> => {
    // What was asked for in another state is not stopped any more once it is being merged, but is no answer to this.
    for (let other = under.get(task.id); other !== undefined; other = under.get(task.id)) {
      if (other.entry === task.entry) return other.going;
      await other.going.catch(() => {});
    }
    const merge = newMerge(task, wanted, clock.now());
    const before = await store.merges.get(task.id);
    const isSame = before !== undefined && isGoingOn(before, merge);
    const asked = isSame ? askedAgain(before, merge) : { ...merge, ...undoOf(before) };
    if (isSame) await store.merges.put(asked);
    else await note(asked, "merge.asked", { strategy: wanted.strategy });
    return under.get(task.id)?.going ?? begin(task, asked);
  };

  return {
    askAndWait,
    finish,
    async ask(task, wanted) {
      const { promise, resolve } = Promise.withResolvers<Merge>();
      const listener = (merge: Merge) => {
        if (merge.state === "waits") resolve(merge);
      };
      const all = listeners.get(task.id) ?? new Set();
      listeners.set(task.id, all.add(listener));
      try {
        const known = await store.merges.get(task.id);
        // Who asks again while it waits is told at once what for.
        if (under.has(task.id) && known?.state === "waits") return known;
        return await Promise.race([promise, askAndWait(task, wanted)]);
      } finally {
        all.delete(listener);
        if (all.size === 0) listeners.delete(task.id);
      }
    },
    before: queue.before,
    resumed: queue.resumed,
    noticed({ task }) {
      const asked = under.get(task.id);
      if (asked !== undefined && asked.entry !== task.entry) queue.remove(task.id);
    },
    async recover() {
      for (const { id, endedAt } of await store.merges.list({}))
        if (endedAt === undefined) takeUp(id).catch((error) => takeUpLater(id, error));
    },
    async stop() {
      stopped = true;
      for (const cancel of later) cancel();
      await queue.stop();
    },
  };
}

export function lineOf(project: string, target: string): string {
  return `merge ${project} ${target}`;
}

/** What the task moves to, once its work has arrived. Gives what was said against it, or nothing. */
async function move({ store, submit }: MergingPorts, merge: Merge): Promise<string> {
  const { task, to, by } = merge;
  const now = (await store.getTask(task))?.task;
  if (to === "" || now?.status === to) return "";
  if (now !== undefined && !isSameStay(merge, now))
    return `It is merged, but the task had moved on to "${now.status}" before it was.`;
  const { decision } = await submit(task, { kind: "move", to, actor: { role: by } });
  if (decision.kind !== "rejected") return "";
  const reasons = sentences(decision.reasons.flatMap(({ text, fix }) => [text, fix]));
  return `It is merged, but could not move to "${to}": ${reasons}`;
}

/** Whether the task is still where it was when somebody asked for the merge. Not known of what older versions have stored. */
function isSameStay({ entry }: Merge, task: Task): boolean {
  return entry === undefined || entry === task.entry;
}

export function newMerge(task: Task, { target, strategy, to, by, only, givesBack, leaves }: Wanted, at: number): Merge {
  return {
    ...{ id: task.id, project: task.project, task: task.id, at },
    ...{ target, strategy, to, by, entry: task.entry, state: "lined-up", reason: "", files: [] },
    ...{ commit: "", before: "", after: "", endedAt: undefined },
    ...(only === undefined ? {} : { only }),
    ...(givesBack === undefined ? {} : { givesBack }),
    ...(leaves === undefined ? {} : { leaves }),
  };
}

/**
 * Whether this is what was asked for before and a crash cut short, if only after the work had arrived and before anybody was
 * told. Then it has the same date, which makes the same commit, and it is not merged or told a second time.
 */
function isGoingOn(before: Merge, now: Merge): boolean {
  if (before.target !== now.target) return false;
  return before.endedAt === undefined || (before.state === "merged" && before.entry === now.entry);
}

/**
 * What was cut short, as it is wanted now: it has moved on since, or had arrived and there is more by now. What was planned
 * may have arrived, so that is kept.
 */
function askedAgain(known: Merge, now: Merge): Merge {
  const { at, commit, before, after } = known;
  return { ...now, at, commit, before, after, ...undoOf(known) };
}

/** That an earlier merge of the task was taken back, for as long as its work is not merged again. */
function undoOf(merge: Merge | undefined): Pick<Merge, "undo"> {
  return merge?.undo === undefined ? {} : { undo: merge.undo };
}

/** Where there is no forge, nobody else says that a pull request was merged. */
async function closeLocalRequest(store: MergingPorts["store"], task: string, mergedCommit: string): Promise<void> {
  const record = await store.pullRequests.get(task);
  if (record?.state === "open" && record.url === "")
    await store.pullRequests.put({ ...record, state: "merged", mergedCommit });
}

/** `isPlanned`: what was planned is in the branch. */
function endOf(merge: Merge, landing: Landing, isPlanned: boolean): Merge {
  if (landing.kind !== "merged") return { ...merge, state: landing.kind, reason: landing.reason, files: landing.files };
  const { commit, before, after } = landing;
  // We may have been killed after we published it: then it was there already, and what was noted before counts.
  const place = before === after && isPlanned ? {} : { before, after };
  const { undo: _, ...rest } = merge;
  return { ...rest, state: "merged", reason: "", files: [], commit, ...place };
}
