import { rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "../../../fault.ts";
import { entryAt } from "./entry-at.ts";
import { removeDeadLock } from "./workshop.ts";

/**
 * Replaces a file of git's in git's own way: what is written becomes a lock first, which must not be there yet. `workers`
 * are the folders in which a living git may hold it.
 */
export async function replaceLocked(
  path: string,
  workers: readonly string[],
  write: (lock: string) => Promise<unknown>,
): Promise<void> {
  const lock = `${path}.lock`;
  for (;;) {
    try {
      await write(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const since = (await entryAt(lock))?.mtimeMs;
      if (!(await removeDeadLock({ path: lock, since }, [dirname(path)], workers))) throw locked(lock);
    }
  }
  try {
    await rename(lock, path);
  } catch (error) {
    await rm(lock, { force: true });
    throw error;
  }
}

function locked(lock: string): Fault {
  return new Fault("git.locked", `"${lock}" is there: git is at work, or was killed.`, {
    retry: "later",
    hint: "If no git is at work there, nor on another machine that has the folder, remove that file.",
  });
}
