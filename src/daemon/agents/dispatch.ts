import { Fault } from "../../fault.ts";
import type { Clock } from "../../ports/clock.ts";
import { sentence, shownTime } from "./sentence.ts";

export interface Seat {
  /** The record's id. */
  readonly run: string;
  readonly task: string;
  readonly project: string;
  readonly harness: string;
}

export interface Caps {
  readonly most: number;
  /** 0 for no limit of its own. */
  readonly perProject: number;
  readonly perHarness: Readonly<Record<string, number>>;
}

/** Who may start now. A run that may not waits here, without a try being spent on it. */
export interface Dispatch {
  /** Returns when the run has a seat. Refused with `agents.superseded` when it is not wanted any more. */
  enter(seat: Seat): Promise<void>;
  /** One that is at work already. */
  seated(seat: Seat): void;
  left(run: string): void;
  /** A task does not want these runs any more; `isWanted` tells. */
  recheck(task: string, isWanted: (run: string) => boolean): void;
  /** A provider takes no more from this harness until then. */
  limit(harness: string, until: number, reason: string): void;
  limits(): readonly { readonly harness: string; readonly until: number; readonly reason: string }[];
  /** Something else has changed: caps, or who is paused. */
  wake(): void;
  /** Why a task's run does not start; undefined where none waits. */
  whyWaiting(task: string): string | undefined;
  /** Those that may not start yet, in their order. */
  waiting(): readonly Seat[];
  atWork(): number;
  stop(): void;
}

export interface DispatchPorts {
  readonly clock: Clock;
  caps(): Caps;
  /** Undefined where nothing is paused for the project; else a sentence. */
  paused(project: string): string | undefined;
}

interface Waiting {
  readonly seat: Seat;
  start(): void;
  refuse(error: Fault): void;
}

export function createDispatch({ clock, caps, paused }: DispatchPorts): Dispatch {
  const seats = new Map<string, Seat>();
  const queue: Waiting[] = [];
  const limits = new Map<string, { until: number; length: number; reason: string }>();
  let cancel = () => {};

  const limitOf = (harness: string) => {
    const found = limits.get(harness);
    const now = clock.now();
    if (found !== undefined && found.until <= now) limits.delete(harness);
    // Nobody waits for longer because the clock was put back.
    else if (found !== undefined && found.until - now > found.length)
      limits.set(harness, { ...found, until: now + found.length });
    return limits.get(harness);
  };
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

  const fill = () => {
    // Whoever cannot start keeps nobody behind it from starting.
    for (const each of [...queue]) {
      if (whyNot(each.seat) !== undefined) continue;
      queue.splice(queue.indexOf(each), 1);
      seats.set(each.seat.run, each.seat);
      each.start();
    }
    cancel();
    const [first] = [...limits.values()].map(({ until }) => until).sort((a, b) => a - b);
    if (first === undefined || queue.length === 0) return;
    cancel = clock.after(Math.min(Math.max(first - clock.now(), 100), 2 ** 31 - 1), fill);
  };

  return {
    enter: (seat) =>
      new Promise<void>((start, refuse) => {
        queue.push({ seat, start, refuse });
        fill();
      }),
    seated: (seat) => void seats.set(seat.run, seat),
    left(run) {
      if (seats.delete(run)) fill();
    },
    recheck(task, isWanted) {
      for (const each of queue.filter(({ seat }) => seat.task === task && !isWanted(seat.run))) {
        queue.splice(queue.indexOf(each), 1);
        each.refuse(new Fault("agents.superseded", "The run is not wanted any more."));
      }
    },
    limit(harness, until, reason) {
      const end = Math.max(until, limitOf(harness)?.until ?? 0);
      limits.set(harness, { until: end, length: end - clock.now(), reason });
      fill();
    },
    limits: () =>
      [...limits.keys()].flatMap((harness) => {
        const found = limitOf(harness);
        return found === undefined ? [] : [{ harness, until: found.until, reason: found.reason }];
      }),
    wake: fill,
    whyWaiting(task) {
      const waiting = queue.find(({ seat }) => seat.task === task);
      return waiting && (whyNot(waiting.seat) ?? "It is about to start.");
    },
    waiting: () => queue.map(({ seat }) => seat),
    atWork: () => seats.size,
    stop() {
      cancel();
      for (const { refuse } of queue.splice(0))
        refuse(new Fault("agents.stopping", "The daemon stops.", { retry: "later" }));
    },
  };
}
