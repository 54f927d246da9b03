import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve, sep } from "node:path";
import { entryAt } from "./entry-at.ts";

/** A lock that git found in its way. Its file says nothing about who made it. */
export interface LeftLock {
  readonly path: string;
  /** Milliseconds since 1970; undefined where it is gone again. */
  readonly since: number | undefined;
  /** Git processes that work in one of the folders; undefined where the system does not tell. */
  readonly holders: readonly number[] | undefined;
}

/** The lock that git complains about; undefined where it complains about something else. */
export function findLock(stderr: string, cwd: string): LeftLock | undefined {
  const [, named] = /Unable to create '(.+\.lock)': File exists/.exec(stderr) ?? [];
  if (named === undefined) return undefined;
  return lookAtLock(resolve(cwd, named), cwd);
}

export function lookAtLock(path: string, cwd: string): LeftLock {
  return { path, since: entryAt(path)?.mtimeMs, holders: gitProcessesIn([cwd, workTreeOf(path)]) };
}

export function describeLock({ path, since, holders }: LeftLock): string {
  const age = since === undefined ? "" : ` since ${new Date(since).toISOString()}`;
  if (holders === undefined) return `"${path}" has been there${age}.`;
  if (holders.length === 0) return `"${path}" has been there${age}, and no git process works there any more.`;
  return `"${path}" has been there${age}; git is at work there (process ${holders.join(", ")}).`;
}

/** `…/.git/index.lock` belongs to whoever works in `…`. */
function workTreeOf(lock: string): string {
  const [before] = lock.split(`${sep}.git${sep}`);
  return before === lock || before === undefined ? dirname(lock) : before;
}

function gitProcessesIn(folders: readonly string[]): readonly number[] | undefined {
  try {
    const real = folders.map((folder) => realpathSync(folder));
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && isGitIn(name, real))
      .map(Number);
  } catch {
    return undefined;
  }
}

function isGitIn(pid: string, folders: readonly string[]): boolean {
  try {
    if (!readFileSync(`/proc/${pid}/comm`, "utf8").startsWith("git")) return false;
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    return folders.some((folder) => cwd === folder || cwd.startsWith(folder + sep));
  } catch {
    // It ended in the meantime, or belongs to somebody else.
    return false;
  }
}
