import { Fault } from "../../fault.ts";
import type { AgentConfig } from "../../home/agent-fields.ts";
import type { Run } from "../../ports/records.ts";
import type { Clock } from "../../ports/system.ts";
import { sentence, sentences, shownTime } from "../../text.ts";
import { inOrder, last, type Rank } from "./queue-order.ts";
import type { AgentWish, GivenAgent, Lack, Roster } from "./roster.ts";
import { superseded } from "./run-order.ts";

interface Seat {
  /** The record's id. */
  readonly run: string;
  readonly task: string;
  readonly project: string;
  readonly harness: string;
  /** The named agent that it wants; missing where an anonymous one does it, or its named agent is known. */
  readonly wants?: Pick<AgentWish, "model" | "label">;
  /** An earlier daemon started it, and no check has shown yet whether it works. */
  readonly isAssumed?: true;
}

/** Why a budget does not let a run start. */
export interface Block {
  readonly text: string;
  readonly fix: string;
  /** The task whose budget it is. */
  readonly owner: string;
  /** False where the run may start by itself, when others have ended. */
  readonly needsPerson: boolean;
}

export interface Caps {
  readonly most: number;
  /** 0 for no limit per project. */
  readonly perProject: number;
  readonly perHarness: Readonly<Record<string, number>>;
}

/**
 * Decides which runs may work now. A working run has a seat. An idle run has none, and takes one before it is started
 * or sent a message. A run without a seat waits in a queue; waiting counts as no attempt.
 */
export interface Dispatch {
  /**
   * Returns when the run has a seat. Refused with `agents.superseded` when it has ended or is not wanted any more. While
   * `blockOf` gives a block, the run gets no seat. With the seat comes the named agent, if the run wants one.
   */
  enter(seat: Seat, blockOf?: () => Promise<Block | undefined>): Promise<GivenAgent | undefined>;
  /** Gives a seat to a run that is working already, even if none is free. */
  seated(seat: Seat): void;
  /** The run has stopped working and releases its seat; it may still wait for another. */
  rests(run: string): void;
  /** The run is over. */
  left(run: string): void;
  isSeated(run: string): boolean;
  /** A task has moved, or its priority or budget has changed: its runs may move in the queue, and others may start. */
  moved(task: string): void;
  /** The blocks of the waiting runs that the budget of this task holds up. */
  blocksOf(owner: string): readonly Block[];
  blockOf(run: string): Block | undefined;
  /** Refuses the waiting runs of a task that are no longer wanted. */
  recheck(task: string, isWanted: (run: string) => boolean): void;
  /**
   * A provider accepts nothing from this harness before `until`. `isGuess`: the provider named no time, and `until` is
   * when to retry.
   */
  limit(harness: string, until: number, reason: string, isGuess?: boolean): void;
  /** Why a person must be told of a limit: its end is unknown or far away. Otherwise undefined. */
  endlessLimit(harness: string): string | undefined;
  /** A person says that a limit no longer applies; false where there is none. */
  lift(harness: string): boolean;
  /** When a person last lifted a limit. */
  liftedAt(harness: string): number | undefined;
  /**
   * Calls `tell` with each task that has a waiting run when a limit or a budget begins or ceases to hold it up, and `tellLimit`
   * when a limit begins, is found to last longer, or is found to be over.
   */
  followLimits(tell: (task: string) => void, tellLimit?: (change: LimitChange) => void): void;
  limits(): readonly { readonly harness: string; readonly until: number; readonly reason: string }[];
  /** The caps, the pauses or the configured budgets have changed. */
  wake(): void;
  /** Why no named agent could ever do a waiting run of the task, and what to do; undefined where one could. */
  lackOf(task: string): Lack | undefined;
  /** Why a task's run does not start; undefined where none is waiting. */
  whyWaiting(task: string): string | undefined;
  /** Why a run has no seat, and its place in the queue; undefined where it is not waiting. */
  whyRunWaits(run: string): string | undefined;
  /** The runs that wait for a seat, the next one first. */
  waiting(): readonly Seat[];
  atWork(): number;
  stop(): void;
}

interface DispatchPorts {
  readonly clock: Clock;
  caps(): Caps;
  rankOf(task: string): Promise<Rank>;
  /** A sentence where the project is paused; otherwise undefined. */
  paused(project: string): string | undefined;
  /** The named agents; missing where no run wants one. */
  readonly roster?: Pick<Roster, "prepare" | "choose" | "lacks" | "take" | "release">;
}

interface Waiting {
  readonly seat: Seat;
  /** Undefined until it is known; until then the run gets no seat. */
  rank: Rank | undefined;
  readonly blockOf: (() => Promise<Block | undefined>) | undefined;
  block: Block | undefined;
  lack: Lack | undefined;
  /** How often it was asked what holds the run up; only the last answer counts. */
  asked: number;
  start(agent: GivenAgent | undefined): void;
  refuse(error: Fault): void;
}

/**
 * A person is told after this many refusals in a row without a reset time. Refusals are in a row within `guessWindow`.
 */
const maxGuesses = 3;
const guessWindow = 10 * 60_000;
/** A provider's limit that has begun, or is over. */
export interface LimitChange {
  readonly harness: string;
  /** Undefined if it is over. */
  readonly until: number | undefined;
  readonly reason: string;
  /** A person has lifted it. */
  readonly isLifted: boolean;
}

/** A limit that lasts longer than this is reported to a person. */
const longLimit = 6 * 3_600_000;
/** Providers count by the week at most, so a later reset time is wrong. */
const maxLimit = 8 * 24 * 3_600_000;
/** Used where a provider does not say when its limit is over. */
export const defaultLimit = 5 * 60_000;

/**
 * The reset time that a provider named at `now`; undefined if it named none, or one that is past or implausibly far
 * away.
 */
export function namedReset(at: number | undefined, now: number): number | undefined {
  return at !== undefined && at > now && at - now <= maxLimit ? at : undefined;
}

export function createDispatch({ clock, caps, rankOf, paused, roster }: DispatchPorts): Dispatch {
  const seats = new Map<string, Seat>();
  const queue: Waiting[] = [];
  const limits = new Map<string, { until: number; length: number; reason: string }>();
  // How often in a row each provider has refused without a reset time, and until when the last guess lasted.
  const guesses = new Map<string, { count: number; until: number }>();
  const lifted = new Map<string, number>();
  const followers = new Set<(task: string) => void>();
  const limitFollowers = new Set<(change: LimitChange) => void>();
  const tellLimit = (harness: string, isLifted = false) => {
    const { until, reason = "" } = limits.get(harness) ?? {};
    for (const tell of limitFollowers) tell({ harness, until, reason, isLifted });
  };
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
      tellLimit(harness);
    }
    // A clock that was set back must not make the limit longer.
    else if (found !== undefined && found.until - now > found.length)
      limits.set(harness, { ...found, until: now + found.length });
    return limits.get(harness);
  };
  let isStopped = false;
  const whyNot = (seat: Seat): string | undefined => {
    const { run, project, harness } = seat;
    if (seats.has(run)) return undefined;
    const halt = paused(project);
    if (halt !== undefined) return halt;
    const limit = limitOf(harness);
    if (limit !== undefined) return `${sentence(limit.reason)} It resumes at ${shownTime(limit.until)}.`;
    const { most, perProject, perHarness } = caps();
    const count = (isSelected: (seat: Seat) => boolean) => [...seats.values()].filter(isSelected).length;
    if (seats.size >= most)
      return `${seats.size} ${seats.size === 1 ? "agent is" : "agents are"} at work; the maximum is ${most} (agents.most).`;
    if (perProject > 0 && count((seat) => seat.project === project) >= perProject)
      return `The maximum of agents at work for ${project} is ${perProject} (agents.per_project).`;
    const own = perHarness[harness];
    if (own !== undefined && count((seat) => seat.harness === harness) >= own)
      return `The maximum of agents at work in ${harness} is ${own} (agents.per_harness).`;
    if (seat.wants === undefined) return undefined;
    const choice = roster?.choose({ ...seat, ...seat.wants });
    return choice?.kind === "wait" ? choice.reason : undefined;
  };

  const whyWaits = (isSelected: (seat: Seat) => boolean): string | undefined => {
    const place = queue.findIndex(({ seat }) => isSelected(seat));
    const waiting = queue[place];
    if (waiting === undefined) return undefined;
    // In a pause no run gets a seat, so the place in the queue means nothing.
    const halt = paused(waiting.seat.project);
    if (halt !== undefined) return halt;
    // A run that a budget blocks waits for no seat.
    if (waiting.block !== undefined) return waiting.block.text;
    const why = whyNot(waiting.seat) ?? "It is about to get one.";
    const number = `It is number ${place + 1} of the ${queue.length} runs that wait for a seat.`;
    return queue.length === 1 ? why : sentences([why, number]);
  };
  const refuse = (isSelected: (seat: Seat) => boolean, fault: Fault) => {
    for (const each of queue.filter(({ seat }) => isSelected(seat))) {
      queue.splice(queue.indexOf(each), 1);
      each.refuse(fault);
    }
  };
  const stopping = () => new Fault("agents.stopping", "The daemon is stopping.", { retry: "later" });

  const leave = (run: string) => {
    const hadAgent = roster?.release(run) ?? false;
    if (seats.delete(run) || hadAgent) fill();
  };
  const begin = ({ seat, start, refuse: refused }: Waiting) => {
    if (seat.wants === undefined || roster === undefined) return start(undefined);
    const { agent, stored } = roster.take({ ...seat, ...seat.wants });
    if (stored === undefined) return start(agent);
    stored.then(
      () => start(agent),
      (error) => {
        leave(seat.run);
        refused(error as Fault);
      },
    );
  };

  const fill = () => {
    queue.splice(0, queue.length, ...inOrder(queue));
    // An older task may be among those whose ranks are being asked for.
    const isLearning = queue.some(({ seat, rank }) => seat.wants !== undefined && rank === undefined);
    // A run that cannot start does not block the runs behind it.
    for (const each of [...queue]) {
      if (isLearning && each.seat.wants !== undefined) continue;
      if (each.rank === undefined || each.block !== undefined || whyNot(each.seat) !== undefined) continue;
      queue.splice(queue.indexOf(each), 1);
      seats.set(each.seat.run, each.seat);
      begin(each);
    }
    cancel();
    const [first] = [...limits.values()].map(({ until }) => until).sort((a, b) => a - b);
    if (first === undefined || queue.length === 0) return;
    cancel = clock.after(Math.min(Math.max(first - clock.now(), 100), 2 ** 31 - 1), fill);
  };

  const learn = async (each: Waiting) => {
    const asked = ++each.asked;
    try {
      const [rank, block] = await Promise.all([
        rankOf(each.seat.task).catch(() => last),
        each.blockOf?.(),
        each.seat.wants === undefined ? undefined : roster?.prepare(each.seat.project),
      ]);
      if (asked !== each.asked) return;
      const { seat, block: before } = each;
      const lack = seat.wants === undefined ? undefined : roster?.lacks({ ...seat, ...seat.wants });
      if (lack?.text !== each.lack?.text) for (const tell of followers) tell(seat.task);
      Object.assign(each, { rank, block, lack });
      if (block?.text !== before?.text)
        for (const task of new Set([each.seat.task, block?.owner, before?.owner]))
          if (task !== undefined) for (const tell of followers) tell(task);
      fill();
    } catch (error) {
      const place = queue.indexOf(each);
      if (place >= 0) queue.splice(place, 1);
      each.refuse(error as Fault);
    }
  };

  const relearn = (isSelected: (waiting: Waiting) => boolean) => {
    for (const each of queue.filter(isSelected)) void learn(each);
  };
  const recheckBlocks = () => relearn(({ block }) => block !== undefined);

  return {
    enter: (seat, blockOf) =>
      new Promise<GivenAgent | undefined>((start, refuse) => {
        if (isStopped) return refuse(stopping());
        // Queued before its rank is known, so that `recheck` can refuse it meanwhile.
        const unknown = { rank: undefined, block: undefined, lack: undefined };
        const waiting: Waiting = { ...unknown, seat, blockOf, asked: 0, start, refuse };
        // A run that asks for a seat does not work, so it waits like all others.
        if (seats.get(seat.run)?.isAssumed === true) seats.delete(seat.run);
        queue.push(waiting);
        if (limits.has(seat.harness)) for (const tell of followers) tell(seat.task);
        void learn(waiting);
      }),
    seated(seat) {
      seats.set(seat.run, seat);
      // It may have been waiting for a seat when it started to work by itself.
      if (queue.some(({ seat: { run } }) => run === seat.run)) fill();
    },
    rests(run) {
      if (!seats.delete(run)) return;
      recheckBlocks();
      fill();
    },
    left(run) {
      refuse((seat) => seat.run === run, superseded());
      recheckBlocks();
      leave(run);
    },
    isSeated: (run) => seats.has(run),
    moved(task) {
      relearn(({ seat }) => seat.task === task);
      recheckBlocks();
    },
    blocksOf: (owner) => queue.flatMap(({ block }) => (block?.owner === owner ? [block] : [])),
    blockOf: (run) => queue.find(({ seat }) => seat.run === run)?.block,
    recheck: (task, isWanted) => refuse((seat) => seat.task === task && !isWanted(seat.run), superseded()),
    limit(harness, until, reason, isGuess = false) {
      const before = guesses.get(harness);
      const isAgain = before !== undefined && clock.now() - before.until < guessWindow;
      // Every check of a waiting run reports the same refusal again.
      const isSame = before !== undefined && clock.now() < before.until;
      if (!isGuess) guesses.delete(harness);
      else if (!isSame) guesses.set(harness, { count: isAgain ? before.count + 1 : 1, until });
      // A provider that refuses again right after the time that it named is retried only after a pause.
      const wait = isGuess && isAgain && !isSame ? Math.max(until, clock.now() + defaultLimit) : until;
      const known = limitOf(harness);
      const end = Math.max(wait, known?.until ?? 0);
      const isNew = known?.until !== end;
      limits.set(harness, { until: end, length: isNew ? end - clock.now() : known.length, reason });
      if (isNew) {
        tellOf(harness);
        tellLimit(harness);
      }
      fill();
    },
    lift(harness) {
      const isThere = limitOf(harness) !== undefined;
      if (!isThere) return false;
      lifted.set(harness, clock.now());
      limits.delete(harness);
      guesses.delete(harness);
      tellOf(harness);
      tellLimit(harness, true);
      fill();
      return true;
    },
    liftedAt: (harness) => lifted.get(harness),
    followLimits(tell, tellOfLimit) {
      followers.add(tell);
      if (tellOfLimit !== undefined) limitFollowers.add(tellOfLimit);
    },
    limits: () =>
      [...limits.keys()].flatMap((harness) => {
        const found = limitOf(harness);
        return found === undefined ? [] : [{ harness, until: found.until, reason: found.reason }];
      }),
    wake() {
      // The models of projects may have changed too.
      relearn(({ block, seat }) => block !== undefined || seat.wants !== undefined);
      fill();
    },
    whyWaiting: (task) => whyWaits((seat) => seat.task === task),
    whyRunWaits: (run) => whyWaits((seat) => seat.run === run),
    endlessLimit(harness) {
      const limit = limitOf(harness);
      if (limit === undefined) return undefined;
      if (limit.length > longLimit) return `${sentence(limit.reason)} That lasts until ${shownTime(limit.until)}.`;
      const count = guesses.get(harness)?.count ?? 0;
      if (count < maxGuesses) return undefined;
      return `${sentence(limit.reason)} The provider has refused ${count} times in a row without saying until when.`;
    },
    lackOf: (task) => queue.find(({ seat, lack }) => seat.task === task && lack !== undefined)?.lack,
    waiting: () => queue.map(({ seat }) => seat),
    atWork: () => seats.size,
    stop() {
      isStopped = true;
      cancel();
      refuse(() => true, stopping());
    },
  };
}

export function seatOf({ id, task, project, harness }: Run): Seat {
  return { run: id, task, project, harness };
}

export function capsOf({ agentsMost, agentsPerProject, agentsPerHarness }: AgentConfig): Caps {
  const pairs = agentsPerHarness.map((each) => each.split("=") as [string, string]);
  const perHarness = Object.fromEntries(pairs.map(([name, most]) => [name, Number(most)]));
  return { most: agentsMost, perProject: agentsPerProject, perHarness };
}
