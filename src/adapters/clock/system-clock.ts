import type { Clock } from "../../ports/clock.ts";

// A timer of Node holds 31 bits of milliseconds; what is further away is looked at again then.
const longest = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    let timer: NodeJS.Timeout;
    const wait = (rest: number) => {
      timer = setTimeout(() => (rest > longest ? wait(rest - longest) : run()), Math.max(0, Math.min(rest, longest)));
    };
    wait(milliseconds);
    return () => clearTimeout(timer);
  },
};
