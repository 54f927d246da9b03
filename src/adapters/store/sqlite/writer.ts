import type { DatabaseSync } from "node:sqlite";
import { toFault } from "./store-fault.ts";

export type Read = <T>(run: () => T) => Promise<T>;

/** Does `run` in a transaction. It may be run twice, the first time in vain. */
export type Write = <T>(run: () => T) => Promise<T>;

interface Job {
  readonly run: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Writes that arrive together share one commit: with `synchronous=FULL` a commit costs an fsync, and that is nearly all a
 * write costs. Each still happens whole or not at all, and nobody is told of success before the commit.
 */
export function createWriter(database: DatabaseSync, path: string): { write: Write; flush: () => void } {
  const begin = database.prepare("begin immediate");
  const commit = database.prepare("commit");
  const rollback = database.prepare("rollback");
  const savepoint = database.prepare("savepoint job");
  const release = database.prepare("release job");
  const undo = database.prepare("rollback to job");
  let queue: Job[] = [];

  // Savepoints copy every page before it changes, a third of the work of a large group. Most groups need none.
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

  /** False where a job failed, which may have left something behind: then none has happened. */
  const together = (jobs: readonly Job[]): boolean => {
    const values: unknown[] = [];
    begin.run();
    try {
      for (const job of jobs) values.push(job.run());
    } catch {
      // What was wrong comes up again when each is run for itself.
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
      // The whole transaction is gone where the disk is full: then nobody's write has happened.
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
