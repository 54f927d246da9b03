import type { Task } from "../../engine/task.ts";
import { Fault, tell } from "../../fault.ts";
import type { Merge } from "../../ports/records.ts";
import type { Clock } from "../../ports/system.ts";
import type { PlaceName } from "../landing-place.ts";

/** A task's work in the queue of one target branch. */
export interface Entry {
  readonly task: string;
  readonly project: string;
  /** The branch that the work is merged into. */
  readonly target: string;
  /** The task whose branch that is; missing for a branch of the user's. */
  readonly parent?: string | undefined;
  readonly strategy: "merge" | "ff";
  /** When it was queued. The merge commit has this date, so that a retry makes the same commit. */
  readonly at: number;
  readonly priority: number;
  /** The task's stay in which the merge was requested. */
  readonly stay: number;
  /** Requested by the workflow, and by no person. */
  readonly isWorkflows?: boolean;
  /** A merge that a workflow makes waits while its project is paused. `wordAt`: when a person began it; missing where none did. */
  readonly pausable?: { readonly wordAt?: number | undefined };
}

/** An entry with the commit to merge. */
export interface Ready extends Entry {
  readonly commit: string;
  readonly message: string;
}

/** How a merge ended. */
export type Landing =
  /** The branch contains the commit. Equal `before` and `after`: it contained the commit already. */
  | ({ readonly kind: "merged" } & Pick<Merge, "commit" | "before" | "after" | "pushed" | "untested">)
  /** `files` are the conflicting ones. */
  | {
      readonly kind: "conflict" | "tests" | "refused";
      readonly reason: string;
      readonly files: readonly string[];
      /** Refused for something outside of the task, which a person mends. */
      readonly isOutside?: true;
    };

/** Something blocks the merge, and the entry stays in the queue. */
export interface Waiting {
  readonly kind: "waits";
  readonly reason: string;
  readonly files: readonly string[];
  /** It will pass within moments, so it is not reported. */
  readonly isPassing?: boolean;
  /** The remote's branch has the commit already: only the user's branch waits. */
  readonly onRemote?: boolean;
}

/** `again`: not decided yet; the entry is retried. */
export type Outcome = Landing | Waiting | { readonly kind: "again" };

export function refused(reason: string): Landing {
  return { kind: "refused", reason, files: [] };
}

/** A merge is wanted only during the stay in which it was requested. */
export function movedOn({ status }: Task): Landing {
  return refused(`The task has moved to "${status}" since the merge was requested, so its work is not merged.`);
}

/** A person has taken the merge out of the queue. */
export const stoppedByPerson = refused("A person stopped the merge, so the task's work is not merged.");

/** The outcome for an error: a temporary fault waits and is retried, any other refuses the merge with its message. */
export function outcomeOf(error: unknown): Waiting | Landing {
  // Cancelling a task stops the tests of its whole batch, so the other tasks are retried.
  const isPassing = error instanceof Fault && error.code === "command.stopped";
  if (error instanceof Fault && error.retry === "later")
    return { kind: "waits", reason: tell(error), files: [], ...(isPassing ? { isPassing } : {}) };
  const reason = error instanceof Fault ? tell(error) : error instanceof Error ? error.message : String(error);
  return { kind: "refused", reason, files: [], isOutside: true };
}

interface QueuePorts {
  readonly clock: Clock;
  /** Merges the entries that can be merged. An entry without an outcome is retried. */
  land(project: string, into: PlaceName, entries: readonly Entry[]): Promise<ReadonlyMap<Entry, Outcome>>;
  /** Why the merge of an entry is no longer wanted; undefined while it is. */
  unwanted(entry: Entry): Promise<Landing | undefined>;
  /** Called when an entry starts to wait for something of the user's. */
  waits(entry: Entry, waiting: Waiting): Promise<void>;
  /** Whether the merge waits for the end of a pause. It stays in the queue. */
  isPaused?(entry: Entry): boolean;
  onError(error: unknown): void;
}

interface MergeQueue {
  /** Resolves when the merge has ended. Idempotent per task. Rejects when the queue stops. */
  add(entry: Entry): Promise<Landing>;
  /** Removes an entry that is no longer wanted, unless it is being merged: that checks again before it publishes. */
  remove(task: string, landing: Landing): void;
  /** Tries a waiting entry again now. Resolves when its line has come to rest. */
  tryAgain(task: string): Promise<void>;
  /** How many entries are before a task in its queue; undefined if it is in none. */
  before(task: string): number | undefined;
  /** Every entry, each line in its order. */
  list(): readonly QueuedMerge[];
  /** A project was resumed. */
  resumed(): void;
  stop(): Promise<void>;
}

/** An entry, and how it stands. */
export interface QueuedMerge {
  readonly entry: Entry;
  /** It is being merged now. */
  readonly isLanding: boolean;
  /** What it waits for; undefined while nothing blocks it. */
  readonly waiting: Waiting | undefined;
  /** A person has paused the project, so the workflow's merge stays in the queue. */
  readonly isPaused: boolean;
}

interface Place {
  readonly entry: Entry;
  readonly settle: PromiseWithResolvers<Landing>;
  /** Undefined while nothing blocks it. */
  waiting: Waiting | undefined;
  /** The reason for waiting that was reported last. */
  told: string | undefined;
  pause: number;
  dueAt: number;
  /** It is being merged, or its outcome has not been settled yet. */
  isLanding: boolean;
}

interface Line {
  readonly places: Map<string, Place>;
  running: Promise<void> | undefined;
  cancelTimer: () => void;
}

/** Entries published together; more would keep later ones waiting for too long. */
const maxBatch = 24;
/** Earlier entries come first; each level of priority counts as this much waiting, so that no entry starves. */
const waitPerPriority = 5 * 60_000;
const firstPause = 500;
const maxPause = 10_000;

/** The name of a line, and the mutex key of its branch. A branch of the user's may have the same name as a task's. */
export function lineOf(project: string, { target, parent }: PlaceName): string {
  return parent === undefined ? `merge ${project} ${target}` : `merge ${project} into ${parent}`;
}

/** One queue per target branch of a project, called a line here. In a line, batches are merged one after the other. */
export function createMergeQueue(ports: QueuePorts): MergeQueue {
  const { clock } = ports;
  const lines = new Map<string, Line>();
  let stopped = false;

  const lineAt = ({ project, ...into }: Entry): Line => {
    const key = lineOf(project, into);
    const line = lines.get(key) ?? { places: new Map(), running: undefined, cancelTimer: () => {} };
    lines.set(key, line);
    return line;
  };
  const inTurn = (line: Line) => [...line.places.values()].filter(({ entry }) => ports.isPaused?.(entry) !== true);
  const wake = (line: Line) => {
    if (stopped || line.running !== undefined) return;
    line.cancelTimer();
    line.running = run(line)
      .catch(ports.onError)
      .finally(() => {
        line.running = undefined;
        rest(line);
      });
  };
  /** Sets a timer for the entry that is due first. */
  const rest = (line: Line) => {
    const now = clock.now();
    const first = Math.min(...inTurn(line).map((place) => untilDue(place, now)));
    if (stopped || !Number.isFinite(first)) return;
    line.cancelTimer = clock.after(first, () => wake(line));
  };

  async function run(line: Line): Promise<void> {
    while (!stopped) {
      const now = clock.now();
      const due = inTurn(line).filter((place) => untilDue(place, now) === 0);
      const batch = due.sort((one, other) => rankOf(one.entry) - rankOf(other.entry)).slice(0, maxBatch);
      const [first] = batch;
      if (first === undefined) return;
      const { project, target, parent } = first.entry;
      const entries = batch.map(({ entry }) => entry);
      for (const place of batch) place.isLanding = true;
      const outcomes = await ports.land(project, { target, parent }, entries).catch((error) => failed(entries, error));
      if (stopped) return;
      for (const place of batch) await settle(line, place, outcomes.get(place.entry) ?? { kind: "again" });
    }
  }

  async function settle(line: Line, place: Place, outcome: Outcome): Promise<void> {
    place.isLanding = false;
    // Merged work is reported as merged even if the task has moved on: it can be undone.
    if (outcome.kind === "merged") return leave(line, place, outcome);
    const unwanted = await ports.unwanted(place.entry).catch(ports.onError);
    if (unwanted) return leave(line, place, unwanted);
    if (outcome.kind === "again") return;
    if (outcome.kind !== "waits") return leave(line, place, outcome);
    const isNew = place.waiting?.reason !== outcome.reason;
    place.waiting = outcome;
    place.pause = isNew ? firstPause : Math.min(place.pause * 2, maxPause);
    place.dueAt = clock.now() + place.pause;
    if (place.told === outcome.reason || outcome.isPassing === true) return;
    // If this cannot be saved, because the disk is full, the next retry reports it. The other entries continue.
    try {
      await ports.waits(place.entry, outcome);
      place.told = outcome.reason;
    } catch (error) {
      ports.onError(error);
    }
  }

  const leave = (line: Line, place: Place, landing: Landing) => {
    line.places.delete(place.entry.task);
    place.settle.resolve(landing);
  };

  function failed(entries: readonly Entry[], error: unknown): ReadonlyMap<Entry, Outcome> {
    if (!(error instanceof Fault)) ports.onError(error);
    return new Map(entries.map((entry) => [entry, outcomeOf(error)]));
  }

  return {
    add(entry) {
      const line = lineAt(entry);
      const there = line.places.get(entry.task);
      if (there !== undefined) return there.settle.promise;
      if (stopped) return Promise.reject(stopping());
      const settle = Promise.withResolvers<Landing>();
      const fresh = { waiting: undefined, told: undefined, isLanding: false };
      line.places.set(entry.task, { entry, settle, pause: firstPause, dueAt: 0, ...fresh });
      wake(line);
      return settle.promise;
    },
    remove(task, landing) {
      for (const line of lines.values()) {
        const place = line.places.get(task);
        if (place !== undefined && !place.isLanding) leave(line, place, landing);
      }
    },
    async tryAgain(task) {
      for (const line of lines.values()) {
        const place = line.places.get(task);
        if (place === undefined) continue;
        place.dueAt = clock.now();
        wake(line);
        await line.running;
      }
    },
    before(task) {
      for (const { places } of lines.values()) {
        const own = places.get(task);
        if (own === undefined) continue;
        return [...places.values()].filter(({ entry }) => rankOf(entry) < rankOf(own.entry)).length;
      }
      return undefined;
    },
    list() {
      return [...lines.values()].flatMap((line) => {
        const going = new Set(inTurn(line));
        const places = [...line.places.values()].sort((one, other) => rankOf(one.entry) - rankOf(other.entry));
        return places.map((place) => {
          const { entry, isLanding, waiting } = place;
          return { entry, isLanding, waiting, isPaused: !going.has(place) };
        });
      });
    },
    resumed() {
      for (const line of lines.values()) wake(line);
    },
    async stop() {
      stopped = true;
      for (const line of lines.values()) line.cancelTimer();
      await Promise.all([...lines.values()].map(({ running }) => running));
      for (const { places } of lines.values()) for (const { settle } of places.values()) settle.reject(stopping());
    },
  };
}

/** Never more than the pause of the entry, even if the clock was set back. */
function untilDue({ dueAt, pause }: Place, now: number): number {
  const left = dueAt - now;
  return left > pause ? 0 : Math.max(0, left);
}

function rankOf({ at, priority }: Entry): number {
  return at - priority * waitPerPriority;
}

function stopping(): Fault {
  return new Fault("merge.stopped", "The daemon is stopping; it continues the merge after its next start.", {
    retry: "later",
  });
}
