import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../fault.ts";
import type { Places } from "./places.ts";

/** An exclusive lock on a file. The system releases it when its process ends, also after a crash. */
export interface Lock {
  /** False once the locked file was deleted or replaced. */
  isInPlace(): boolean;
  release(): void;
}

/**
 * Takes a lock that this process holds until it releases it or dies. It uses SQLite because SQLite's locks are the
 * system's. A pid file would outlive its process, and the pid could later be another process's. Undefined if another
 * process has the lock.
 */
export function takeLock(path: string): Lock | undefined {
  try {
    return lockFile(path);
  } catch (error) {
    const code = sqliteCode(error);
    if (code === busy) return undefined;
    if (code === notDatabase) {
      // Something has overwritten the file. Its content is never needed.
      rmSync(path, { force: true });
      return takeLock(path);
    }
    throw new Fault("lock.failed", `The lock ${path} cannot be taken: ${(error as Error).message}.`, {
      hint: "Check the folder's permissions and the free space.",
      cause: error,
    });
  }
}

/** Whether a process holds a lock on this file. Never creates the file. */
export function isLocked(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    database.prepare("select count(*) from sqlite_schema").get();
    return false;
  } catch (error) {
    return sqliteCode(error) === busy;
  } finally {
    database?.close();
  }
}

function lockFile(path: string): Lock {
  // A command that only checks the lock holds it for a moment.
  const database = new DatabaseSync(path, { timeout: 200 });
  const own = fileAt(path);
  try {
    // Nothing is ever written here, so avoid a journal file.
    database.exec("pragma journal_mode = memory; begin exclusive");
  } catch (error) {
    database.close();
    throw error;
  }
  return { isInPlace: () => own !== undefined && fileAt(path) === own, release: () => database.close() };
}

/** Device and inode: identify a file while a process has it open, even after its name is gone. */
function fileAt(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

const busy = 5;
const notDatabase = 26;

function sqliteCode(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff;
}

/** The process that holds a home's lock: a daemon, which may not be answering. */
interface LockHolder {
  /** Undefined if the system does not show it, for example in another container. */
  readonly pid: number | undefined;
}

type LockPlaces = Pick<Places, "lock" | "database" | "pid">;

/** The process that holds the daemon's lock or its database, if any. Asks the system, not the daemon. */
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
  // Another user's process hides its open files: then trust the pid file.
  return { pid: process.platform === "linux" && isOurOwn() ? undefined : numberIn(places.pid) };
}

/** The pid in a daemon's pid file. */
function numberIn(file: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(file, "utf8"), 10) || undefined;
  } catch {
    return undefined;
  }
}

/** The processes that hold a write lock on one of these inodes, from /proc/locks. */
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

/** Whether a process has one of the files open. The pid alone may belong to another process by now. */
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
