import { rmSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "../fault.ts";

/** An exclusive lock on a file. It ends with its process, however that ends. */
export interface Lock {
  /** False once the file at the path is not the locked one any more: it was deleted or replaced. */
  isInPlace(): boolean;
  release(): void;
}

/**
 * Takes a lock that belongs to this process until it releases it or dies: SQLite's locks are the system's own. A file with
 * a process number in it would outlive its process, and name another one some day. Undefined where another process has it.
 */
export function takeLock(path: string): Lock | undefined {
  try {
    return lockFile(path);
  } catch (error) {
    const code = sqliteCode(error);
    if (code === busy) return undefined;
    if (code === notDatabase) {
      // Somebody has written into the file. Nothing in it is ever needed.
      rmSync(path, { force: true });
      return takeLock(path);
    }
    throw new Fault("lock.failed", `The lock ${path} cannot be taken: ${(error as Error).message}.`, {
      hint: "Look at the permissions of the folder and at the free space.",
      cause: error,
    });
  }
}

/** Whether some process holds a lock on this file. Opens nothing where there is no file, and creates nothing. */
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
  // A command that only looks whether the lock is held has it for a moment.
  const database = new DatabaseSync(path, { timeout: 200 });
  const own = fileAt(path);
  try {
    // The journal would be a second file; nothing is ever written here.
    database.exec("pragma journal_mode = memory; begin exclusive");
  } catch (error) {
    database.close();
    throw error;
  }
  return { isInPlace: () => own !== undefined && fileAt(path) === own, release: () => database.close() };
}

/** Device and number: names a file for as long as somebody has it open, also when its name is gone. */
function fileAt(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

const busy = 5;
const notDatabase = 26;

function sqliteCode(error: unknown): number {
  return ((error as { errcode?: number }).errcode ?? 0) & 0xff;
}
