import { realpath, rm } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Fault } from "../../../fault.ts";
import type { Person } from "../../../ports/git-names.ts";
import type { RunGit } from "../git-runner.ts";
import type { LeftLock } from "../left-lock.ts";
import { createTurns, type Turns } from "../turns.ts";
import { livingGit } from "./living-git.ts";
import { pacedRunner } from "./paced-runner.ts";
import { createRecords, type Records } from "./records.ts";
import { type Heap, openHeap } from "./trash/open-heap.ts";
import { findUserRepository, type UserRepository } from "./user-repository.ts";

export interface WorkspaceOptions {
  readonly run: RunGit;
  /** The user's repository. */
  readonly repository: string;
  /** The folder of the control repository. */
  readonly control: string;
  /** Where we note what we know about workspaces. Nobody else writes there. */
  readonly state: string;
  /** On the same disk as the workspaces. */
  readonly trash: string;
  /** What the user ignores everywhere, for workspaces that do not have the user's configuration. */
  readonly ignoreFile?: string;
  /** Who commits in workspaces that do not have the user's configuration. */
  readonly person?: Person;
  readonly now?: () => number;
}

/** What everything needs that is done to the workspaces of a project. */
export interface Workshop {
  readonly options: WorkspaceOptions;
  /** Removes locks of git processes that were killed. */
  readonly git: RunGit;
  readonly records: Records;
  readonly turns: Turns;
  user(): Promise<UserRepository>;
  /** A new heap in the trash for what is taken from a workspace. */
  heap(folder: string, isHeld?: boolean): Heap;
  /** Refused with `workspace.busy` while a git that outlived its daemon is still at work there. */
  refuseBusy(folder: string): Promise<void>;
}

export function createWorkshop(options: WorkspaceOptions): Workshop {
  const { run, repository, state, trash, now = Date.now } = options;
  const paced = pacedRunner(run);
  let user: Promise<UserRepository> | undefined;
  const findUser = () => {
    user ??= findUserRepository(paced, repository).catch((error) => {
      user = undefined;
      throw error;
    });
    return user;
  };
  return {
    options,
    records: createRecords(state),
    turns: createTurns(),
    user: findUser,
    heap: (folder, isHeld = false) => openHeap(trash, { from: folder, at: now(), isHeld }),
    async refuseBusy(folder) {
      const living = await livingGit([folder]);
      if (living !== undefined && living.length > 0) throw busy(folder, living);
    },
    async git(place, args, more) {
      for (let tries = 0; ; tries += 1) {
        try {
          return await paced(place, args, more);
        } catch (error) {
          if (tries >= 5 || !isLocked(error)) throw error;
          const { commonFolder } = await findUser();
          const ours = [state, join(commonFolder, "worktrees"), join(commonFolder, "refs"), join(place.folder, ".git")];
          if (!(await removeDeadLock(error.cause as LeftLock, ours, [place.folder, repository]))) throw error;
        }
      }
    },
  };
}

/** The same folder always by the same name. It need not be there; what lies above it may be reached by links. */
export async function wholePath(folder: string): Promise<string> {
  if (!isAbsolute(folder) || folder.includes("\0")) {
    throw new Fault("workspace.foreign", `${JSON.stringify(folder)} is no whole path of a folder.`);
  }
  const path = resolve(folder);
  const above = await realpath(dirname(path)).catch(() => dirname(path));
  return join(above, basename(path));
}

// Git holds such locks for moments. One this young may belong to a process that has not been seen yet.
const youngest = 1_000;
// Longer than anything of ours may run, for systems that do not tell which processes there are.
const surelyDead = 60 * 60 * 1_000;

/** Only locks that nobody but us and the agent of this workspace takes: the user's own stay, whoever left them. */
export async function removeDeadLock(
  { path, since }: Pick<LeftLock, "path" | "since">,
  ours: readonly string[],
  workers: readonly string[],
): Promise<boolean> {
  if (!ours.some((folder) => path.startsWith(folder + sep))) return false;
  // It is gone by itself.
  if (since === undefined) return true;
  const age = Date.now() - since;
  if (age < youngest) {
    await setTimeout(youngest - age);
    return true;
  }
  const living = await livingGit(workers);
  const isDead = living === undefined ? age > surelyDead : living.length === 0;
  if (isDead) await rm(path, { force: true });
  return isDead;
}

function isLocked(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "git.locked";
}

function busy(folder: string, pids: readonly number[]): Fault {
  return new Fault("workspace.busy", `git is still at work in ${folder} (process ${pids.join(", ")}).`, {
    retry: "later",
    hint: "It was started before the daemon was, and ends by itself.",
  });
}
