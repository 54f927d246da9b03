import { rmSync } from "node:fs";
import { sep } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Configuration } from "../git-environment.ts";
import type { RunGit, RunOptions } from "../git-runner.ts";
import type { LeftLock } from "../left-lock.ts";
import type { GitEnd } from "../spawn-git.ts";

export interface ControlOptions extends RunOptions {
  /** Where it is not ours alone: the user's, for what goes out to a remote. */
  readonly configuration?: Configuration;
}

/** Git in one control repository, for everything that is done there. */
export interface ControlGit {
  readonly folder: string;
  git(args: readonly string[], options?: ControlOptions): Promise<GitEnd>;
  /** Git elsewhere. */
  readonly run: RunGit;
  /** Where git looks for what the user ignores everywhere, unless they say otherwise. */
  readonly ignoreFile: string | undefined;
}

export function createControlGit(run: RunGit, folder: string, ignoreFile: string | undefined): ControlGit {
  return {
    folder,
    run,
    ignoreFile,
    async git(args, options = {}) {
      const place = { folder, gitDir: folder, configuration: options.configuration ?? "ours" } as const;
      // A killed git may have left more than one.
      for (;;) {
        try {
          return await run(place, args, options);
        } catch (error) {
          if (!removeDeadLock(error, folder)) throw error;
        }
      }
    },
  };
}

// Git holds the locks of refs for moments. One this young may belong to a process that has not been seen yet.
const youngest = 1_000;
// Longer than anything of ours may run, for systems that do not tell which processes there are.
const surelyDead = 60 * 60 * 1_000;

/** Nobody but us writes here, so a lock without a living git was left by one that was killed. */
function removeDeadLock(error: unknown, folder: string): boolean {
  if (!(error instanceof Fault) || error.code !== "git.locked") return false;
  const { path, since, holders } = error.cause as LeftLock;
  if (since === undefined || !path.startsWith(folder + sep)) return false;
  const age = Date.now() - since;
  const isDead = holders === undefined ? age > surelyDead : holders.length === 0 && age > youngest;
  if (isDead) rmSync(path, { force: true });
  return isDead;
}
