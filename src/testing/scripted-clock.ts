import type { Clock } from "../ports/clock.ts";

/** A clock that stands still until it is told to go on. */
export interface ScriptedClock extends Clock {
  /** Lets time pass, running what falls due on the way, in order. */
  pass(milliseconds: number): Promise<void>;
}

export function createScriptedClock(start = 0): ScriptedClock {
  let now = start;
  let timers: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + Math.max(0, milliseconds), run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    async pass(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        await settle();
        const next = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = end;
    },
  };
}

/** What was set in motion gets the chance to come to rest and to set timers of its own. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
