import type { Clock, Log } from "../ports/system.ts";

/** Milliseconds after which the same error is logged again, with a count. */
const repeatInterval = 3_600_000;
const maxErrors = 200;

/**
 * Logs unhandled errors. An error that recurs with every check of a task, several times a second, is logged once and
 * then once an hour, so that it does not hide all others.
 */
export function createErrorLog(log: Pick<Log, "error">, clock: Pick<Clock, "now">): (error: unknown) => void {
  const told = new Map<string, { readonly at: number; times: number }>();
  return (error) => {
    const key = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const before = told.get(key);
    const now = clock.now();
    if (before !== undefined && Math.abs(now - before.at) < repeatInterval) {
      before.times++;
      return;
    }
    // The first key of a Map is the oldest.
    const [oldest] = told.keys();
    if (before === undefined && told.size >= maxErrors && oldest !== undefined) told.delete(oldest);
    told.delete(key);
    told.set(key, { at: now, times: 0 });
    const repeated = before === undefined || before.times === 0 ? {} : { repeated: before.times };
    log.error("An unforeseen error occurred", { error, ...repeated });
  };
}
