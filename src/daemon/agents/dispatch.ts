import { sentence, sentences } from "../../engine/sentence.ts";
import { Fault } from "../../fault.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Run } from "../../ports/records.ts";
import { shownTime } from "./shown-time.ts";

export interface Seat {
  /** The record's id. */
  readonly run: string;
  readonly task: string;
  readonly project: string;
  readonly harness: string;
}

/** Who goes first where seats are short: who has the fewest ways to its end, then the higher priority, then the older task. */
export interface Rank {
  /** How many ways lead from the task's state to its end. */
  readonly ways: number;
  readonly priority: number;
  /** The number of the task among all tasks: an older one has a smaller number. */
  readonly order: number;
}

export interface Caps {
  readonly most: number;
  /** 0 for no limit of its own. */
  readonly perProject: number;
  readonly perHarness: Readonly<Record<string, number>>;
}

/**
 * Who may work now. A run that works has a seat; one that is idle has none, and takes one before it is started or told
 * something. A run that gets none waits here, without a try being spent on it.
 */
export interface Dispatch {
  /** Returns when the run has a seat. Refused with `agents.superseded` when it has ended or is not wanted any more. */
  enter(seat: Seat): Promise<void>;
  /** A run that works already, whether or not there was a seat for it. */
  seated(seat: Seat): void;
  /** The run does not work any more; it may still wait for another seat. */
  rests(run: string): void;
  /** The run is over. */
  left(run: string): void;
  isSeated(run: string): boolean;
  /** A task has moved, or has another priority: its runs may have another place among those that wait. */
  moved(task: string): void;
  /** A task does not want these runs any more; `isWanted` tells. */
  recheck(task: string, isWanted: (run: string) => boolean): void;
  /** A provider takes no more from this harness until then. `isGuess`: it did not say when; then is when it is tried again. */
  limit(harness: string, until: number, reason: string, isGuess?: boolean): void;
  /** What a person must hear of a limit: nobody says until when it lasts, or that is far away. Else undefined. */
  endlessLimit(harness: string): string | undefined;
  /** A person says that a limit does not hold any more; false where there is none. */
  lift(harness: string): boolean;
  /** When a person last said so. */
  liftedAt(harness: string): number | undefined;
  /** Tells of every task whose run waits when a limit begins, ends, or keeps the run from starting. */
  followLimits(tell: (task: string) => void): void;
  limits(): readonly { readonly harness: string; readonly until: number; readonly reason: string }[];
  /** Something else has changed: caps, or who is paused. */
  wake(): void;
  /** Why a task's run does not start; undefined where none waits. */
  whyWaiting(task: string): string | undefined;
  /** Why a run has no seat, and its place among those that wait for one; undefined where it does not wait. */
  whyRunWaits(run: string): string | undefined;
  /** Those that wait for a seat, who is next first. */
  waiting(): readonly Seat[];
  atWork(): number;
  stop(): void;
}

export interface DispatchPorts {
  readonly clock: Clock;
  caps(): Caps;
  rankOf(task: string): Promise<Rank>;
  /** Undefined where nothing is paused for the project; else a sentence. */
  paused(project: string): string | undefined;
}

interface Waiting {
  readonly seat: Seat;
  /** Undefined until it is known; until then it gets no seat. */
  rank: Rank | undefined;
  start(): void;
  refuse(error: Fault): void;
}

/** How often in a row a provider may refuse without saying until when before a person is told, and how soon that is in a row. */
const mostGuesses = 3;
const patience = 10 * 60_000;
/** A limit that lasts longer than this is told to a person. */
const longLimit = 6 * 3_600_000;
/** Providers count by the week at most. */
const longestLimit = 8 * 24 * 3_600_000;
/** Where a provider does not say when its limit is over. */
export const usualLimit = 5 * 60_000;

/** When a limit is over that was told at `now`; undefined where that time is past, no time, or so far away that nobody means it. */
export function namedReset(at: number | undefined, now: number): number | undefined {
  return at !== undefined && at > now && at - now <= longestLimit ? at : undefined;
}

export function createDispatch({ clock, caps, rankOf, paused }: DispatchPorts): Dispatch {
  const seats = new Map<string, Seat>();
  const queue: Waiting[] = [];
  const limits = new Map<string, { until: number; length: number; reason: string }>();
  // How often in a row each provider has refused without saying until when, and when the last of that was to be over.
  const guesses = new Map<string, { count: number; until: number }>();
  const lifted = new Map<string, number>();
  const followers = new Set<(task: string) => void>();
  const tellOf = (harness: string) => {
    for (const { seat } of queue) if (seat.harness === harness) for (const tell of followers) tell(seat.task);
  };
  let cancel = () => {};

  const limitOf = (harness: string) => {
    const found = limits.get(harness);
    const now = clock.now();
    if (found !== undefined && found.until <= now) {
      limits.delete(harness);
      tellOf(harness);
    }
    // Nobody waits for longer because the clock was put back.
    else if (found !== undefined && found.until - now > found.length)
      limits.set(harness, { ...found, until: now + found.length });
    return limits.get(harness);
  };
  let isStopped = false;
  const whyNot = ({ run, project, harness }: Seat): string | undefined => {
    if (seats.has(run)) return undefined;
    const halt = paused(project);
    if (halt !== undefined) return halt;
    const limit = limitOf(harness);
    if (limit !== undefined) return `${sentence(limit.reason)} It goes on at ${shownTime(limit.until)}.`;
    const { most, perProject, perHarness } = caps();
    const count = (isMeant: (seat: Seat) => boolean) => [...seats.values()].filter(isMeant).length;
    if (seats.size >= most) return `${most} agents are at work, which is the most (agents.most).`;
    if (perProject > 0 && count((seat) => seat.project === project) >= perProject)
      return `${perProject} agents are at work for ${project}, which is the most (agents.per_project).`;
    const own = perHarness[harness];
    if (own !== undefined && count((seat) => seat.harness === harness) >= own)
      return `${own} agents are at work in ${harness}, which is the most (agents.per_harness).`;
    return undefined;
  };

  const whyWaits = (isMeant: (seat: Seat) => boolean): string | undefined => {
    const place = queue.findIndex(({ seat }) => isMeant(seat));
    const waiting = queue[place];
    if (waiting === undefined) return undefined;
    // Nobody gets a seat in a pause, so no place is nearer to one.
    const halt = paused(waiting.seat.project);
    if (halt !== undefined) return halt;
    const why = whyNot(waiting.seat) ?? "It is about to get one.";
    const number = `It is number ${place + 1} of the ${queue.length} that wait for a seat.`;
    return queue.length === 1 ? why : sentences([why, number]);
  };
  const refuse = (isMeant: (seat: Seat) => boolean, fault: Fault) => {
    for (const each of queue.filter(({ seat }) => isMeant(seat))) {
      queue.splice(queue.indexOf(each), 1);
      each.refuse(fault);
    }
  };
  const stopping = () => new Fault("agents.stopping", "The daemon stops.", { retry: "later" });
  const superseded = () => new Fault("agents.superseded", "The run is not wanted any more.");

  const fill = () => {
    // Sorting is stable: of one task's runs the one that came first goes first.
    queue.sort((one, other) => compareRanks(one.rank ?? last, other.rank ?? last));
    // Whoever cannot start keeps nobody behind it from starting.
    for (const each of [...queue]) {
      if (each.rank === undefined || whyNot(each.seat) !== undefined) continue;
      queue.splice(queue.indexOf(each), 1);
      seats.set(each.seat.run, each.seat);
      each.start();
    }
    cancel();
    const [first] = [...limits.values()].map(({ until }) => until).sort((a, b) => a - b);
    if (first === undefined || queue.length === 0) return;
    cancel = clock.after(Math.min(Math.max(first - clock.now(), 100), 2 ** 31 - 1), fill);
  };

  const learnRank = async (each: Waiting) => {
    each.rank = await rankOf(each.seat.task).catch(() => last);
    fill();
  };

  return {
    enter: (seat) =>
      new Promise<void>((start, refuse) => {
        if (isStopped) return refuse(stopping());
        // It is in the queue before its rank is known: if its task does not want it any more meanwhile, it is refused.
        const waiting: Waiting = { seat, rank: undefined, start, refuse };
        queue.push(waiting);
        if (limits.has(seat.harness)) for (const tell of followers) tell(seat.task);
        void learnRank(waiting);
      }),
    seated(seat) {
      seats.set(seat.run, seat);
      // It may have waited for one when it began to work by itself.
      if (queue.some(({ seat: { run } }) => run === seat.run)) fill();
    },
    rests(run) {
      if (seats.delete(run)) fill();
    },
    left(run) {
      refuse((seat) => seat.run === run, superseded());
      if (seats.delete(run)) fill();
    },
    isSeated: (run) => seats.has(run),
    moved(task) {
      for (const each of queue.filter(({ seat }) => seat.task === task)) void learnRank(each);
    },
    recheck: (task, isWanted) => refuse((seat) => seat.task === task && !isWanted(seat.run), superseded()),
    limit(harness, until, reason, isGuess = false) {
      const before = guesses.get(harness);
      const isAgain = before !== undefined && clock.now() - before.until < patience;
      // The same refusal is heard of more than once, by every look at a run that waits.
      const isSame = before !== undefined && clock.now() < before.until;
      if (!isGuess) guesses.delete(harness);
      else if (!isSame) guesses.set(harness, { count: isAgain ? before.count + 1 : 1, until });
      // A provider that names a time and refuses again right after it is not asked without a pause.
      const wait = isGuess && isAgain && !isSame ? Math.max(until, clock.now() + usualLimit) : until;
      const known = limitOf(harness);
      const end = Math.max(wait, known?.until ?? 0);
      const isNew = known?.until !== end;
      limits.set(harness, { until: end, length: isNew ? end - clock.now() : known.length, reason });
      if (isNew) tellOf(harness);
      fill();
    },
    lift(harness) {
      const isThere = limitOf(harness) !== undefined;
      if (!isThere) return false;
      lifted.set(harness, clock.now());
      limits.delete(harness);
      guesses.delete(harness);
      tellOf(harness);
      fill();
      return true;
    },
    liftedAt: (harness) => lifted.get(harness),
    followLimits: (tell) => void followers.add(tell),
    limits: () =>
      [...limits.keys()].flatMap((harness) => {
        const found = limitOf(harness);
        return found === undefined ? [] : [{ harness, until: found.until, reason: found.reason }];
      }),
    wake: fill,
    whyWaiting: (task) => whyWaits((seat) => seat.task === task),
    whyRunWaits: (run) => whyWaits((seat) => seat.run === run),
    endlessLimit(harness) {
      const limit = limitOf(harness);
      if (limit === undefined) return undefined;
      if (limit.length > longLimit) return `${sentence(limit.reason)} That lasts until ${shownTime(limit.until)}.`;
      const count = guesses.get(harness)?.count ?? 0;
      if (count < mostGuesses) return undefined;
      return `${sentence(limit.reason)} It was refused ${count} times in a row, and nobody says until when.`;
    },
    waiting: () => queue.map(({ seat }) => seat),
    atWork: () => seats.size,
    stop() {
      isStopped = true;
      cancel();
      refuse(() => true, stopping());
    },
  };
}

/** Nobody knows how far it is from its end. */
const last: Rank = { ways: Number.MAX_SAFE_INTEGER, priority: 0, order: Number.MAX_SAFE_INTEGER };

function compareRanks(one: Rank, other: Rank): number {
  return one.ways - other.ways || other.priority - one.priority || one.order - other.order;
}

export function seatOf({ id, task, project, harness }: Run): Seat {
  return { run: id, task, project, harness };
}

export function capsOf({ agentsMost, agentsPerProject, agentsPerHarness }: AgentConfig): Caps {
  const pairs = agentsPerHarness.map((each) => each.split("=") as [string, string]);
  const perHarness = Object.fromEntries(pairs.map(([name, most]) => [name, Number(most)]));
  return { most: agentsMost, perProject: agentsPerProject, perHarness };
}
