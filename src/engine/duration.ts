import type { Backoff } from "./workflow.ts";

/** Seconds to wait before a retry; attempt 1 is the first retry. */
export function delayBefore(attempt: number, backoff: Backoff | undefined): number {
  if (backoff === undefined || attempt < 1) return 0;
  const { first, factor, max = Math.max(first, day) } = backoff;
  // A first delay of 0 stays 0; times an overflown factor it would be NaN.
  if (first === 0) return 0;
  return Math.min(first * factor ** (attempt - 1), max);
}

/** The longest delay where the file sets none: timers and dates would overflow after more doublings. */
const day = 24 * 60 * 60;

/** Seconds from `500ms`, `5s`, `5m`, `2h`, `1d` or a plain number of seconds; undefined for anything else. */
export function readDuration(text: string | number): number | undefined {
  const [, amount, unit = "s"] = /^(\d+(?:\.\d+)?)(ms|[smhd])?$/.exec(String(text)) ?? [];
  if (amount === undefined || !isUnit(unit)) return undefined;
  // Whole milliseconds, as the clock counts: 1.1 × 60 is otherwise 66.00000000000001.
  const seconds = Math.round(Number(amount) * milliseconds[unit]) / 1000;
  return Number.isFinite(seconds) ? seconds : undefined;
}

/** As written in a workflow file: in the largest unit that gives a whole number. */
export function writeDuration(seconds: number): string {
  const total = Math.round(seconds * 1000);
  if (total === 0) return "0s";
  for (const unit of ["d", "h", "m", "s"] as const) {
    if (total % milliseconds[unit] === 0) return `${total / milliseconds[unit]}${unit}`;
  }
  return total < milliseconds.s ? `${total}ms` : `${total / milliseconds.s}s`;
}

const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function isUnit(unit: string): unit is keyof typeof milliseconds {
  return Object.hasOwn(milliseconds, unit);
}
