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
  /** Called once. `gone`: the files were deleted, so that nothing can be noted about the run any more. */
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
  let timer: NodeJS.Timeout;
  const broken = (): "time" | "output" | "gone" | undefined => {
    if (size > outputLimit) return "output";
    if (printed.isGone()) return "gone";
    return performance.now() - began >= timeLimit ? "time" : undefined;
  };
  const look = () => {
    const before = size;
    size = printed.size();
    if (size !== before) listener.onGrowth();
    const limit = broken();
    if (limit !== undefined) return listener.onBroken(limit);
    pace = size === before ? Math.min(idlePace, pace * slowing) : busyPace;
    wait();
  };
  const wait = () => {
    const left = timeLimit - (performance.now() - began);
    timer = setTimeout(look, Math.max(1, Math.min(pace, left)));
  };
  wait();
  return () => clearTimeout(timer);
}
