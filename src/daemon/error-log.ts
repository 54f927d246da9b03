import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

/** Milliseconds after which the same error is told again, with how often it came meanwhile. */
const interval = 3_600_000;
const maxErrors = 200;

/**
 * Logs errors that nobody handles. What fails on every look at a task, several times a second, is told once and then once an
 * hour: a log in which one line repeats for ever hides all others.
 */
export function createErrorLog(log: Pick<Log, "error">, clock: Pick<Clock, "now">): (error: unknown) => void {
  const told = new Map<string, { readonly at: number; times: number }>();
  return (error) => {
    const key = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const before = told.get(key);
    const now = clock.now();
    if (before !== undefined && Math.abs(now - before.at) < interval) {
      before.times++;
      return;
    }
    // The oldest of a Map comes first.
    const [oldest] = told.keys();
    if (before === undefined && told.size >= maxErrors && oldest !== undefined) told.delete(oldest);
    told.delete(key);
    told.set(key, { at: now, times: 0 });
    const repeated = before === undefined || before.times === 0 ? {} : { repeated: before.times };
    log.error("Something failed that nobody foresaw", { error, ...repeated });
  };
}
