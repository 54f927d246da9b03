import type { Backoff } from "./workflow.ts";

/** Seconds to wait before a retry; attempt 1 is the first retry. */
export function delayBefore(attempt: number, backoff: Backoff | undefined): number {
  if (backoff === undefined || attempt < 1) return 0;
  const { first, factor, max = Math.max(first, day) } = backoff;
  // A first delay of 0 stays 0; times an overflown factor it would be NaN.
  if (first === 0) return 0;
  return Math.min(first * factor ** (attempt - 1), max);
}

/** Where the file names no longest delay: timers and dates overflow some doublings later. */
const day = 24 * 60 * 60;
