import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import type { RunGit } from "../git-runner.ts";

/**
 * Starts no more git processes at once than there are processors, and never two in the same turn of the event loop:
 * starting one stops everything else for milliseconds, and thirty workspaces may be asked for at the same moment.
 */
export function pacedRunner(run: RunGit, most = Math.max(2, availableParallelism())): RunGit {
  const waiting: (() => void)[] = [];
  let free = most;
  let starting: Promise<unknown> = Promise.resolve();
  const take = async () => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    starting = starting.then(() => setImmediate());
    await starting;
  };
  const give = () => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  return async (place, args, options) => {
    await take();
    try {
      return await run(place, args, options);
    } finally {
      give();
    }
  };
}
