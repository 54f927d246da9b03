import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isLocked } from "./lock.ts";
import type { Places } from "./places.ts";

/** Who has a home: a daemon that may not answer. */
export interface LockHolder {
  /** Undefined where the system does not tell, such as from another container. */
  readonly pid: number | undefined;
}

type LockPlaces = Pick<Places, "lock" | "database" | "pid">;

/** The process that has the daemon's lock, or its database; undefined where nobody has. Asks the system, not the daemon. */
export function lockHolder(places: LockPlaces): LockHolder | undefined {
  const files = [places.lock, places.database].flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ dev: found.dev, ino: found.ino }];
  });
  // The lock file may have been deleted; the daemon has a lock on its database too.
  const known = [numberIn(places.pid), ...lockersOf(files.map(({ ino }) => ino))].filter((pid) => pid !== undefined);
  const holder = known.find((pid) => hasOpen(pid, files));
  if (holder !== undefined) return { pid: holder };
  if (!isLocked(places.lock)) return undefined;
  // Somebody else's process shows nothing about itself: then the number is believed.
  return { pid: process.platform === "linux" && isOurOwn() ? undefined : numberIn(places.pid) };
}

/** The number that a daemon has left in its file. */
function numberIn(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, "utf8"), 10) || undefined;
  } catch {
    return undefined;
  }
}

/** Processes that hold a write lock on one of these files, as Linux tells it. */
function lockersOf(numbers: readonly number[]): readonly number[] {
  try {
    return readFileSync("/proc/locks", "latin1")
      .split("\n")
      .flatMap((line) => {
        const [, pid, number] = /POSIX +ADVISORY +WRITE +(\d+) +[\da-f]+:[\da-f]+:(\d+) /.exec(line) ?? [];
        return number !== undefined && numbers.includes(Number(number)) ? [Number(pid)] : [];
      });
  } catch {
    return [];
  }
}

/** Whether a process has one of the files open. A number alone may be another process's by now. */
function hasOpen(pid: number, files: readonly { readonly dev: number; readonly ino: number }[]): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((name) => {
      const found = statSync(join(folder, name), { throwIfNoEntry: false });
      return found !== undefined && files.some(({ dev, ino }) => dev === found.dev && ino === found.ino);
    });
  } catch {
    return false;
  }
}

function isOurOwn(): boolean {
  try {
    readdirSync(`/proc/${process.pid}/fd`);
    return true;
  } catch {
    return false;
  }
}
