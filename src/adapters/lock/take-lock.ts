import { DatabaseSync } from "node:sqlite";
import { Fault } from "../../fault.ts";

/**
 * Takes a lock that belongs to this process until it releases it or dies, however it dies: SQLite's locks are the
 * system's own. A file with a process number in it would outlive its process, and name another one some day. Undefined
 * where another process has it.
 */
export function takeLock(path: string): (() => void) | undefined {
  try {
    const database = new DatabaseSync(path, { timeout: 0 });
    try {
      // The journal would be a second file; nothing is ever written here.
      database.exec("pragma journal_mode = memory; begin exclusive");
      return () => database.close();
    } catch (error) {
      database.close();
      throw error;
    }
  } catch (error) {
    const { errcode = 0, message } = error as Error & { errcode?: number };
    const isTaken = (errcode & 0xff) === 5;
    if (isTaken) return undefined;
    throw new Fault("lock.failed", `The lock ${path} cannot be taken: ${message}.`, {
      hint: "Look at the permissions of the folder and at the free space.",
      cause: error,
    });
  }
}
