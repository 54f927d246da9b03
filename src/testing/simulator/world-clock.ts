import type { Clock } from "../../ports/clock.ts";

/** Time that passes only when it is told to. What falls due at the same moment comes in the order in which it was asked for. */
export interface WorldClock extends Clock {
  /** Goes to the next moment at which something is due, and lets it happen; false where nothing ever will. */
  step(): boolean;
  /** When that is. */
  next(): number | undefined;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export function createWorldClock(start: number): WorldClock {
  let now = start;
  let count = 0;
  const timers = new Set<Timer>();
  const first = () => {
    let found: Timer | undefined;
    for (const timer of timers) {
      if (found === undefined || timer.at < found.at || (timer.at === found.at && timer.order < found.order))
        found = timer;
    }
    return found;
  };
  return {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + Math.max(0, milliseconds), order: count++, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    next: () => first()?.at,
    step() {
      const timer = first();
      if (timer === undefined) return false;
      timers.delete(timer);
      now = timer.at;
      timer.run();
      return true;
    },
  };
}
