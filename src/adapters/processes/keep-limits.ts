import type { Printed } from "./printed.ts";
import type { OrderRecord } from "./run-records.ts";

/**
 * How often it is looked what was printed: often while something is, so that a flood does not get far, and the less often
 * the longer nothing was; a hundred silent programs must cost next to nothing. After a long silence a flood can last a
 * second. To be told of changes would take one of the few watchers that the system has for everybody of this user.
 */
const busyPace = 20;
const idlePace = 1_000;
const slowing = 1.1;

export interface LimitListener {
  onGrowth(): void;
  /** Called once for each. `gone`: the files were deleted, so that nothing can be noted about the run any more. */
  onBroken(limit: "time" | "output" | "gone"): void;
}

/** Looks after a program's limits. Returns what stops it. */
export function keepLimits(
  { timeLimit, outputLimit }: Pick<OrderRecord, "timeLimit" | "outputLimit">,
  printed: Printed,
  listener: LimitListener,
): () => void {
  const began = performance.now();
  let size = 0;
  let pace = busyPace;
  let isLate = false;
  let timer: NodeJS.Timeout;
  const look = () => {
    const before = size;
    size = printed.size();
    if (size !== before) listener.onGrowth();
    if (size > outputLimit) return listener.onBroken("output");
    if (printed.isGone()) return listener.onBroken("gone");
    pace = size === before ? Math.min(idlePace, pace * slowing) : busyPace;
    if (!isLate && left() <= 0) {
      isLate = true;
      listener.onBroken("time");
    }
    wait();
  };
  const left = () => timeLimit - (performance.now() - began);
  const wait = () => {
    timer = setTimeout(look, isLate ? pace : Math.max(1, Math.min(pace, left())));
  };
  wait();
  return () => clearTimeout(timer);
}
