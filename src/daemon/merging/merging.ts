import type { EventData } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import type { Merge } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { sentences } from "../../text.ts";
import { personsWordAt } from "../deadlines.ts";
import type { PlaceName } from "../landing-place.ts";
import type { Submit } from "../submit.ts";
import { createFollower, isInTarget, isPublished, undoBegun, whereArrived } from "./arrival.ts";
import { type GiveBackPorts, giveBack } from "./conflicts.ts";
import { type LandEntriesPorts, landEntries, unwanted, workToMerge } from "./land.ts";
import { laterWork } from "./later-work.ts";
import { type MergeEventType, noteMerge } from "./merge-history.ts";
import {
  createMergeQueue,
  type Entry,
  type Landing,
  lineOf,
  movedOn,
  outcomeOf,
  type QueuedMerge,
  refused,
  stoppedByPerson,
} from "./merge-queue.ts";
import { isSameMerge, landedAs, newMerge, undoOf } from "./merge-record.ts";

export interface MergingPorts extends LandEntriesPorts, Pick<GiveBackPorts, "workflowOf"> {
  readonly clock: Clock;
  readonly submit: Submit;
  readonly inTurn: Turns;
  /** Whether a project's pause stops what a person's word began at `wordAt`, or no person began. */
  stopsWork?(project: string, wordAt: number | undefined): boolean;
  onError(error: unknown): void;
}

export interface Wanted extends PlaceName {
  readonly strategy: "merge" | "ff";
  /** The state that the task moves to afterwards; empty if its workflow moves it. */
  readonly to: string;
  readonly by: string;
  /** The approved commit. If none was named, the current commit of the work at the time of the request is merged. */
  readonly only?: string;
  /** Conflicts are given to the task's agent. */
  readonly givesBack?: boolean;
  /** Uncommitted changes are ignored; otherwise they refuse the merge. */
  readonly leaves?: boolean;
}

export interface Merging {
  /** Queues a task. Resolves when it is merged and has moved, when it cannot be merged, or when it has to wait. */
  ask(task: Task, wanted: Wanted): Promise<Merge>;
  /** The same, but resolves only when the merge has ended. */
  askAndWait(task: Task, wanted: Wanted): Promise<Merge>;
  /** Moves the task whose work is in the target already. */
  finish(merge: Merge): Promise<Merge>;
  /** The remote's branch has what was published for a task, and the user's does not: it follows as soon as it can. */
  follow(task: string): void;
  /**
   * Stops the merge of a task, unless it is being published. Resolves when the merge has ended, one way or the other;
   * undefined if none is under way.
   */
  cancel(task: string): Promise<Merge | undefined>;
  /** The task whose name the tests of this task's merge run under; undefined if they do not run. */
  testedAs(task: string): string | undefined;
  /** How many entries are before a task in its queue; undefined if it is in none. */
  before(task: string): number | undefined;
  /** Whether the merge of a task is being published, which nothing stops. */
  isInPublication(task: string): boolean;
  /** The entries of all queues, those of one branch in their order. */
  queued(): readonly QueuedMerge[];
  /** How far the merge of a task is, for people; undefined if it is in no queue. */
  stageOf(task: string): string | undefined;
  /** A project was resumed: merges that only workflows want continue. */
  resumed(): void;
  /** A task has changed: a merge that was requested in an earlier stay is cancelled. */
  noticed(stored: StoredTask): void;
  /** Recovers merges that people requested before the daemon stopped. Workflows request theirs again by themselves. */
  recover(): Promise<void>;
  stop(): Promise<void>;
}

/** The pause before a failed merge is retried, in milliseconds. */
const retryPause = 5_000;

export function createMerging(given: MergingPorts): Merging {
  /** Tasks whose merge a person is stopping. */
  const stopping = new Set<string>();
  const isHalted = ({ project, pausable }: Entry) =>
    pausable !== undefined && given.stopsWork?.(project, pausable.wordAt) === true;
  const ports: MergingPorts = { ...given, isStopped: (task) => stopping.has(task), isHalted };
  const { store, clock } = ports;
  const follower = createFollower(ports);
  const listeners = new Map<string, Set<(merge: Merge) => void>>();
  let stopped = false;
  const under = new Map<string, { readonly going: Promise<Merge>; readonly entry: number }>();

  const note = async <Type extends MergeEventType>(merge: Merge, type: Type, data: EventData<Type>) => {
    await noteMerge(ports, merge, type, data);
    for (const listener of listeners.get(merge.task) ?? []) listener(merge);
  };

  /** Tasks whose merge is being tested, each with the first task of the batch: the tests run in its name. */
  const tested = new Map<string, string>();
  const testing = async <T>(merged: readonly string[], test: () => Promise<T>): Promise<T> => {
    for (const task of merged) tested.set(task, merged[0] ?? task);
    try {
      return await test();
    } finally {
      for (const task of merged) tested.delete(task);
    }
  };

  /** Tasks whose merge is being published, which nothing stops any more. */
  const inPublication = new Set<string>();
  const publishing = async <T>(merged: readonly string[], publish: () => Promise<T>): Promise<T> => {
    for (const task of merged) inPublication.add(task);
    try {
      return await publish();
    } finally {
      for (const task of merged) inPublication.delete(task);
    }
  };

  const queue = createMergeQueue({
    clock,
    onError: ports.onError,
    isPaused: isHalted,
    land: (project, into, entries) =>
      ports.inTurn(lineOf(project, into), () => landEntries({ ...ports, testing, publishing }, project, into, entries)),
    unwanted: (entry) => unwanted(ports, entry),
    async waits({ task }, { reason, files }) {
      const merge = await store.merges.get(task);
      if (merge !== undefined)
        await note({ ...merge, state: "waits", reason, files }, "merge.waits", { reason, files });
    },
  });

  /** Queues a merge and waits for its end. Idempotent: after a restart it does the same. */
  const go = async (task: Task, merge: Merge): Promise<Merge> => {
    const { target, parent, strategy, at, entry: stay = task.entry } = merge;
    const entry: Entry = {
      ...{ task: task.id, project: task.project, target, parent, strategy, at, stay, priority: task.priority },
      isWorkflows: merge.by === "engine",
      ...(merge.to === "" ? { pausable: { wordAt: await personsWordAt(store, task.id) } } : {}),
    };
    const landing = await queue.add(entry);
    return end((await store.merges.get(task.id)) ?? merge, landing);
  };

  /** A planned merge may have been published before a failure: then it has landed. */
  const end = async (merge: Merge, landing: Landing): Promise<Merge> => {
    const { after: planned } = merge;
    if (landing.kind === "merged") {
      const isPlanned = planned !== "" && (await isInTarget(ports, merge, planned));
      return landed(landedAs(merge, landing, isPlanned));
    }
    const arrived = planned === "" ? undefined : await whereArrived(ports, merge, planned);
    if (arrived === "here") return landed(landedAs(merge, merge, true));
    if (arrived === "remote") return landedOnRemote(merge);
    const { kind, files } = landing;
    const inLine = lineOf(merge.project, merge);
    const left = planned === "" ? "" : await ports.inTurn(inLine, () => undoBegun(ports, merge, landing.reason));
    const reason = landing.reason.includes(left) ? landing.reason : sentences([landing.reason, left]);
    const outside = landing.isOutside === true ? { isOutside: true as const } : {};
    const failed: Merge = { ...merge, ...outside, state: kind, reason, files, endedAt: clock.now() };
    await note(failed, "merge.failed", { word: kind, reason, files });
    return kind === "conflict" ? afterConflict(failed) : failed;
  };

  const landed = async (merge: Merge): Promise<Merge> => {
    const { commit, before, after } = merge;
    await note(merge, "merge.landed", { commit, before, after });
    return finish(merge);
  };

  /** The task stays where it is: its work is not in the user's branch yet. */
  const landedOnRemote = async (merge: Merge): Promise<Merge> => {
    const { commit, before, after } = merge;
    const place = landedAs(merge, merge, true);
    const published = { ...place, onRemote: true, reason: isPublished(merge), endedAt: clock.now() };
    await note(published, "merge.landed", { commit, before, after });
    await closeLocalRequest(store, merge.task, commit);
    follower.follow(merge.task);
    return published;
  };

  /** Gives the conflict to the task's agent. An error here does not change that the merge has failed. */
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

  /** Registers a task's merge synchronously, so that there is only one at a time. */
  const register = (task: string, entry: number, going: Promise<Merge>): Promise<Merge> => {
    const registered = going.finally(() => under.delete(task));
    under.set(task, { going: registered, entry });
    return registered;
  };
  const begin = (task: Task, to: string, asked: Promise<Merge>): Promise<Merge> => {
    const merged = asked.then((merge) => (merge.endedAt === undefined ? go(task, merge) : merge));
    const going = register(task.id, task.entry, merged);
    // Workflows request a merge again by themselves. A person may have been told already that theirs waits.
    if (to !== "") going.catch((error) => recoverLater(task.id, error));
    return going;
  };

  /** Recovers a merge that a person requested, and ends a merge whose task has moved on. */
  const recoverMerge = async (id: string): Promise<void> => {
    const [merge, stored] = [await store.merges.get(id), await store.getTask(id)];
    if (merge === undefined || merge.endedAt !== undefined || stored === undefined || under.has(id)) return;
    const { task } = stored;
    const isWanted = isSameStay(merge, task);
    // Workflows request a merge again by themselves.
    if (isWanted && merge.to === "") return;
    const { entry = task.entry } = merge;
    // Merged work is not inspected again: a forge may have made another commit of it.
    if (merge.state === "merged") await register(id, entry, finish(merge));
    else if (!isWanted) await register(id, entry, end(merge, movedOn(task)));
    // begin retries a failure by itself.
    else begin(task, merge.to, Promise.resolve(merge)).catch(() => {});
  };
  const later = new Set<() => void>();
  const recoverLater = (id: string, error: unknown) => {
    if (stopped || (error instanceof Fault && error.code === "merge.stopped")) return;
    ports.onError(error);
    const cancel = clock.after(retryPause, () => {
      later.delete(cancel);
      recoverMerge(id).catch((again) => recoverLater(id, again));
    });
    later.add(cancel);
  };

  const askAndWait = async (task: Task, wanted: Wanted): Promise<Merge> => {
    // A merge requested in an earlier stay may be past stopping. It is awaited, but it does not answer this request.
    for (let other = under.get(task.id); other !== undefined; other = under.get(task.id)) {
      if (other.entry === task.entry) return other.going;
      await other.going.catch(() => {});
    }
    return begin(task, wanted.to, request(task, wanted));
  };

  /** Records the request with the commit to merge. Later commits of the branch are not part of this merge. */
  const request = async (task: Task, wanted: Wanted): Promise<Merge> => {
    let known = await store.merges.get(task.id);
    const merge = newMerge(task, wanted, clock.now());
    if (known !== undefined && known.endedAt === undefined) {
      if (isSameMerge(known, merge, known.only)) return resume(known, merge);
      // It was requested in another stay, but may have been published before a crash.
      known = await end(known, movedOn(task));
    }
    const work = await workToMerge(ports, task, wanted).catch((error) => {
      const outcome = error instanceof Fault ? outcomeOf(error) : undefined;
      if (outcome?.kind !== "refused") throw error;
      return outcome;
    });
    if (work.kind === "ready" && known !== undefined && isSameMerge(known, merge, work.commit))
      return resume(known, { ...merge, only: work.commit });
    const asked = { ...merge, ...undoOf(known), ...(work.kind === "ready" ? { only: work.commit } : {}) };
    if (work.kind === "ready") {
      await note(asked, "merge.asked", { strategy: wanted.strategy });
      return asked;
    }
    // A refused request is never recorded as queued: after a crash, the next daemon would merge it unchecked.
    const ended = { ...asked, state: "refused", reason: work.reason, endedAt: clock.now() } as const;
    await note(ended, "merge.asked", { strategy: wanted.strategy });
    return end(asked, { ...refused(work.reason), ...(work.isOutside ? { isOutside: true } : {}) });
  };

  /** A merge that a crash interrupted keeps its date and its commit, so that the same commit is made, and only once. */
  const resume = async (known: Merge, merge: Merge): Promise<Merge> => {
    const { at, commit, before, after, only = merge.only, onRemote = false } = known;
    const resumed = {
      ...{ ...merge, at, commit, before, after, ...undoOf(known) },
      ...(only === undefined ? {} : { only }),
      ...(onRemote ? { onRemote } : {}),
    };
    await store.merges.put(resumed);
    return resumed;
  };

  return {
    askAndWait,
    finish,
    follow: follower.follow,
    async ask(task, wanted) {
      const { promise, resolve } = Promise.withResolvers<Merge>();
      const listener = (merge: Merge) => {
        if (merge.state === "waits") resolve(merge);
      };
      const all = listeners.get(task.id) ?? new Set();
      listeners.set(task.id, all.add(listener));
      try {
        const known = await store.merges.get(task.id);
        // What was in the way may be gone since the last look.
        if (under.has(task.id) && known?.state === "waits") {
          await queue.tryAgain(task.id);
          const now = (await store.merges.get(task.id)) ?? known;
          if (now.state === "waits" || !under.has(task.id)) return now;
        }
        return await Promise.race([promise, askAndWait(task, wanted)]);
      } finally {
        all.delete(listener);
        if (all.size === 0) listeners.delete(task.id);
      }
    },
    async cancel(task) {
      const asked = under.get(task);
      if (asked === undefined) return undefined;
      stopping.add(task);
      try {
        queue.remove(task, stoppedByPerson);
        const merge = await asked.going;
        if (merge.state !== "refused") return merge;
        const stopped: Merge = { ...merge, stopped: true };
        await store.merges.put(stopped);
        return stopped;
      } finally {
        stopping.delete(task);
      }
    },
    testedAs: (task) => tested.get(task),
    before: queue.before,
    isInPublication: (task) => inPublication.has(task),
    queued: queue.list,
    stageOf(task) {
      const others = queue.before(task);
      if (others === undefined) return undefined;
      if (tested.has(task)) return "its result is being tested";
      return others === 0
        ? "it is next in the queue"
        : `it is queued after ${others === 1 ? "1 other" : `${others} others`}`;
    },
    resumed: queue.resumed,
    noticed({ task }) {
      const asked = under.get(task.id);
      if (asked !== undefined && asked.entry !== task.entry) queue.remove(task.id, movedOn(task));
    },
    async recover() {
      for (const { id, endedAt, onRemote } of await store.merges.list({})) {
        if (endedAt === undefined) recoverMerge(id).catch((error) => recoverLater(id, error));
        else if (onRemote === true) follower.follow(id);
      }
    },
    async stop() {
      stopped = true;
      follower.stop();
      for (const cancel of later) cancel();
      await queue.stop();
    },
  };
}

/** Moves the task after its merge. Returns why the task stays where it is, or an empty text. */
async function move(ports: MergingPorts, merge: Merge): Promise<string> {
  const { task, to, by } = merge;
  const now = (await ports.store.getTask(task))?.task;
  if (now === undefined || (to !== "" && now.status === to)) return "";
  if (!isSameStay(merge, now))
    return to === "" ? "" : `The work is merged, but the task had moved to "${now.status}" before.`;
  const later = await laterWork(ports, merge, now);
  if (later !== "" || to === "") return later;
  // With `merged` the engine refuses if the branch has got commits since.
  const { decision } = await ports.submit(task, { kind: "move", to, actor: { role: by }, word: { merged: true } });
  if (decision.kind !== "rejected") return "";
  const reasons = sentences(decision.reasons.flatMap(({ text, fix }) => [text, fix]));
  return `The work is merged, but the task could not move to "${to}": ${reasons}`;
}

/** Whether the task is still in the stay in which the merge was requested. Records of older versions have no stay. */
function isSameStay({ entry }: Merge, task: Task): boolean {
  return entry === undefined || entry === task.entry;
}

/** Without a forge, only this records that a pull request was merged. */
async function closeLocalRequest(store: MergingPorts["store"], task: string, mergedCommit: string): Promise<void> {
  const record = await store.pullRequests.get(task);
  if (record?.state === "open" && record.url === "")
    await store.pullRequests.put({ ...record, state: "merged", mergedCommit });
}
