import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Entry, type Landing, type Outcome, outcomeOf, unwanted, type Waiting } from "./entry.ts";

export interface QueuePorts {
  readonly clock: Clock;
  /** Merges those that can be merged. What it does not mention gets another turn. */
  land(project: string, target: string, entries: readonly Entry[]): Promise<ReadonlyMap<Entry, Outcome>>;
  /** An entry waits for something of the user's. */
  waits(entry: Entry, waiting: Waiting): Promise<void>;
  /** Whether a person has paused a project: what only its workflows want to be merged stays in line. */
  isPaused?(project: string): boolean;
  onError(error: unknown): void;
}

export interface MergeQueue {
  /** Resolves when the work has landed, or cannot. Who asks twice gets the same answer. Refused when the queue stops. */
  add(entry: Entry): Promise<Landing>;
  /** Takes an entry out that nobody wants to be merged any more. */
  remove(task: string): void;
  /** Those before it in its line; undefined where it is in none. */
  before(task: string): number | undefined;
  /** Somebody has been resumed. */
  resumed(): void;
  stop(): Promise<void>;
}

interface Place {
  readonly entry: Entry;
  readonly settle: PromiseWithResolvers<Landing>;
  /** Undefined while nothing is in its way. */
  waiting: Waiting | undefined;
  /** What the person was told it waits for. */
  told: string | undefined;
  pause: number;
  dueAt: number;
  /** It is being merged just now, or has been and nobody was told yet. */
  isLanding: boolean;
  /** Nobody wants it any more; what is being merged is not stopped for that. */
  isUnwanted: boolean;
}

interface Line {
  readonly places: Map<string, Place>;
  running: Promise<void> | undefined;
  cancelTimer: () => void;
}

/** Published at once; more would keep those who come later waiting for too long. */
const mostAtOnce = 24;
/** What was there earlier comes first, but a higher priority counts as this much of waiting. So nobody waits for ever. */
const worthOfPriority = 5 * 60_000;
const firstPause = 500;
const longestPause = 10_000;

/** One line for each branch of each project. In a line, merges happen one after the other. */
export function createMergeQueue(ports: QueuePorts): MergeQueue {
  const { clock } = ports;
  const lines = new Map<string, Line>();
  let stopped = false;

  const lineOf = (project: string, target: string): Line => {
    const key = `${project}\n${target}`;
    const line = lines.get(key) ?? { places: new Map(), running: undefined, cancelTimer: () => {} };
    lines.set(key, line);
    return line;
  };
  const inTurn = (line: Line) =>
    [...line.places.values()].filter(
      ({ entry }) => entry.isWorkflows !== true || ports.isPaused?.(entry.project) !== true,
    );
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
  /** Looks again when the first of those that wait may not have to any more. */
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
      const batch = due.sort((one, other) => rankOf(one.entry) - rankOf(other.entry)).slice(0, mostAtOnce);
      const [first] = batch;
      if (first === undefined) return;
      const { project, target } = first.entry;
      const entries = batch.map(({ entry }) => entry);
      for (const place of batch) place.isLanding = true;
      const outcomes = await ports.land(project, target, entries).catch((error) => failed(entries, error));
      if (stopped) return;
      for (const place of batch) await settle(line, place, outcomes.get(place.entry) ?? { kind: "again" });
    }
  }

  async function settle(line: Line, place: Place, outcome: Outcome): Promise<void> {
    place.isLanding = false;
    // Somebody took it out meanwhile. What has arrived all the same is told as that: it can be taken back then.
    if (place.isUnwanted) return leave(line, place, outcome.kind === "merged" ? outcome : unwanted);
    if (outcome.kind === "again") return;
    if (outcome.kind !== "waits") return leave(line, place, outcome);
    const isNew = place.waiting?.reason !== outcome.reason;
    place.waiting = outcome;
    place.pause = isNew ? firstPause : Math.min(place.pause * 2, longestPause);
    place.dueAt = clock.now() + place.pause;
    if (place.told === outcome.reason) return;
    // Who cannot be told now, because the disk is full, is told with the next try; the others have their turn meanwhile.
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
      const line = lineOf(entry.project, entry.target);
      const there = line.places.get(entry.task);
      if (there !== undefined) return there.settle.promise;
      if (stopped) return Promise.reject(stopping());
      const settle = Promise.withResolvers<Landing>();
      const fresh = { waiting: undefined, told: undefined, isLanding: false, isUnwanted: false };
      line.places.set(entry.task, { entry, settle, pause: firstPause, dueAt: 0, ...fresh });
      wake(line);
      return settle.promise;
    },
    remove(task) {
      for (const line of lines.values()) {
        const place = line.places.get(task);
        if (place === undefined) continue;
        if (place.isLanding) place.isUnwanted = true;
        else leave(line, place, unwanted);
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

/** Never more than its pause: a clock that was set back keeps nobody waiting. */
function untilDue({ dueAt, pause }: Place, now: number): number {
  const left = dueAt - now;
  return left > pause ? 0 : Math.max(0, left);
}

function rankOf({ at, priority }: Entry): number {
  return at - priority * worthOfPriority;
}

function stopping(): Fault {
  return new Fault("merge.stopped", "The daemon stops; it goes on with the merge after its start.", { retry: "later" });
}
