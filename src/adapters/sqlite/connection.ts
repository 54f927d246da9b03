import { chmodSync, closeSync, existsSync, openSync, statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite";
import { Fault } from "../../fault.ts";
import { storeClosed } from "./faults.ts";
import { migrations } from "./migrations.ts";

/**
 * SQL for the ids of a task's history rows. Each row names the previous one, and the task names its last. An index
 * would cost every decision one more page, and readers rarely need more than the last few rows.
 *
 * `last` selects the first id; ids below `least` are left out.
 */
export function chain(last: string, least = "1"): string {
  return `with recursive chain (id) as (
    ${last}
    union all
    select history.previous from chain cross join history on history.id = chain.id
    where history.previous between ${least} and history.id - 1
  )`;
}

export interface Connecting {
  /** No other process can open the file: the daemon's second lock, which deleting the lock file does not break. */
  readonly isExclusive?: boolean;
}

/** The version of a database after it was opened. */
export const newestVersion = migrations.length;

/** Opens the database in a file, creating or upgrading it. */
export function connect(path: string, { isExclusive = false }: Connecting = {}): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    // SQLite gives its write-ahead log the permissions of the database.
    if (path !== ":memory:") makePrivate(path);
    database = new DatabaseSync(path, { timeout: 5_000, enableForeignKeyConstraints: true });
    // Before the first read: SQLite takes the lock with the first access, and keeps it.
    if (isExclusive) database.exec("pragma locking_mode = exclusive");
    database.exec("pragma journal_mode = wal");
    // NORMAL would lose acknowledged transactions in a power cut. The setting belongs to the connection, not the file.
    database.exec("pragma synchronous = full");
    migrate(database, path);
    return database;
  } catch (error) {
    database?.close();
    throw toFault(error, path);
  }
}

/**
 * SQLite would create the file with the umask's permissions. An existing file is not opened here: closing it would
 * release the locks that another connection of this process has on it.
 */
function makePrivate(path: string): void {
  try {
    if (!existsSync(path)) closeSync(openSync(path, "wx", 0o600));
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
  } catch {
    // SQLite reports a file that cannot be created or opened.
  }
}

function migrate(database: DatabaseSync, path: string): void {
  const version = Number(database.prepare("pragma user_version").get()?.user_version);
  const known = migrations.length;
  if (version > known) {
    const message = `The store ${path} was written by a newer Signalbox (version ${version}; this one knows ${known}).`;
    throw new Fault("store.newer", message, { hint: "Update Signalbox, or restore a backup from before the update." });
  }
  for (const [index, script] of migrations.entries()) {
    if (index < version) continue;
    database.exec(`begin immediate; ${script}; pragma user_version = ${index + 1}; commit`);
  }
  // Checkpoint the new schema into the file: deleting the write-ahead log must not leave a database without tables.
  if (version < known) database.exec("pragma wal_checkpoint(truncate)");
}

/** A statement that reads. Tables are strict, so the types of the selected columns are known. */
export interface Reading<Row extends readonly SQLOutputValue[]> {
  get(...values: readonly SQLInputValue[]): Row | undefined;
  all(...values: readonly SQLInputValue[]): readonly Row[];
  /** Reads rows one by one, so that a caller can stop early. */
  iterate(...values: readonly SQLInputValue[]): Iterable<Row>;
}

/** Rows are arrays: creating objects would take as long as finding the rows. */
export function prepareReading<Row extends readonly SQLOutputValue[]>(
  database: DatabaseSync,
  sql: string,
): Reading<Row> {
  return database.prepare(sql, { returnArrays: true }) as unknown as Reading<Row>;
}

const restore = "The store is damaged. See what can be restored: signalbox restore --list";

/** Faults by SQLite's result code. Only the low byte is used, which is the primary code. */
const kinds: Readonly<Record<number, { code: string; retry: "later" | "never"; hint: string }>> = {
  5: { code: "store.busy", retry: "later", hint: "Another process holds the database. Try again." },
  8: { code: "store.read-only", retry: "never", hint: "Make the home folder writable." },
  10: { code: "store.disk", retry: "later", hint: "The disk reported an error. Check its health and its free space." },
  11: { code: "store.corrupt", retry: "never", hint: restore },
  13: { code: "store.full", retry: "later", hint: "The disk is full. Free some space; nothing was lost." },
  14: {
    code: "store.unreadable",
    retry: "never",
    hint: "Check that the home folder exists, and is readable and writable.",
  },
  26: { code: "store.corrupt", retry: "never", hint: restore },
};

/** The system's error codes about files, as SQLite's result codes. */
const systemCodes: Readonly<Record<string, number>> = {
  EROFS: 8,
  EIO: 10,
  ENOSPC: 13,
  EDQUOT: 13,
  ENOENT: 14,
  ENOTDIR: 14,
  EACCES: 14,
  EPERM: 14,
};

/** Turns an error of SQLite into a fault; other errors stay unchanged. */
export function toFault(error: unknown, path: string): unknown {
  if (error instanceof Fault || !(error instanceof Error)) return error;
  const { errcode, code, message } = error as Error & { errcode?: number; code?: string };
  // The error of a closed connection and its statements.
  if (code === "ERR_INVALID_STATE") return storeClosed();
  const number = errcode === undefined ? systemCodes[code ?? ""] : errcode & 0xff;
  const kind = number === undefined ? undefined : kinds[number];
  if (kind === undefined) return error;
  return new Fault(kind.code, `The store ${path} failed: ${message}.`, {
    retry: kind.retry,
    hint: kind.hint,
    cause: error,
  });
}

export type Read = <T>(run: () => T) => Promise<T>;

/** Calls `run` in a transaction. `run` may be called again if the first transaction is rolled back. */
export type Write = <T>(run: () => T) => Promise<T>;

interface Job {
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes that arrive together share one commit: with `synchronous=FULL` a commit costs an fsync, which is nearly the
 * whole cost of a write. Each write is still atomic, and its caller learns of success only after the commit.
 */
export function createWriter(database: DatabaseSync, path: string): { write: Write; flush: () => void } {
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  const rollback = database.prepare("rollback");
  const savepoint = database.prepare("savepoint job");
  const release = database.prepare("release job");
  const undo = database.prepare("rollback to job");
  let queue: Job[] = [];

  // First without savepoints: they copy every page before it changes, a third of a large group's cost. Few groups fail.
  const flush = () => {
    const jobs = queue;
    queue = [];
    if (jobs.length === 0) return;
    try {
      if (!together(jobs)) apart(jobs);
    } catch (error) {
      for (const job of jobs) job.reject(toFault(error, path));
    }
  };

  /** False if a job failed; then all jobs were rolled back. */
  const together = (jobs: readonly Job[]): boolean => {
    const values: unknown[] = [];
    begin.run();
    try {
      for (const job of jobs) values.push(job.run());
    } catch {
      // The error occurs again when the jobs run separately.
      if (database.isTransaction) rollback.run();
      return false;
    }
    end();
    for (let i = 0; i < jobs.length; i++) jobs[i]?.resolve(values[i]);
    return true;
  };

  const apart = (jobs: readonly Job[]) => {
    const tell: (() => void)[] = [];
    begin.run();
    try {
      for (const job of jobs) tell.push(runApart(job));
    } catch (error) {
      if (database.isTransaction) rollback.run();
      throw error;
    }
    end();
    for (const each of tell) each();
  };

  const runApart = (job: Job) => {
    savepoint.run();
    try {
      const value = job.run();
      release.run();
      return () => job.resolve(value);
    } catch (error) {
      // On a full disk SQLite rolls back the whole transaction, so no write has happened.
      if (!database.isTransaction) throw error;
      undo.run();
      release.run();
      return () => job.reject(toFault(error, path));
    }
  };

  const end = () => {
    try {
      commit.run();
    } catch (error) {
      if (database.isTransaction) rollback.run();
      throw error;
    }
  };

  const write: Write = (run) =>
    new Promise((resolve, reject) => {
      if (queue.length === 0) setImmediate(flush);
      queue.push({ run, resolve: resolve as (value: unknown) => void, reject });
    });
  return { write, flush };
}
