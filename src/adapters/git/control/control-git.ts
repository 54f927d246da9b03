import { rmSync } from "node:fs";
import { sep } from "node:path";
import { Fault } from "../../../fault.ts";
import type { LeftLock } from "../faults.ts";
import type { GitEnd, RunGit, RunOptions } from "../runner.ts";
import type { Configuration } from "../settings.ts";

export interface ControlOptions extends RunOptions {
  /** `ours` by default; `user` for commands that contact a remote. */
  readonly configuration?: Configuration;
}

/** Runs git in one control repository. */
export interface ControlGit {
  readonly folder: string;
  git(args: readonly string[], options?: ControlOptions): Promise<GitEnd>;
  /** Runs git elsewhere. */
  readonly run: RunGit;
  /** The default path of the user's global ignore file. */
  readonly ignoreFile: string | undefined;
}

export function createControlGit(run: RunGit, folder: string, ignoreFile: string | undefined): ControlGit {
  return {
    folder,
    run,
    ignoreFile,
    async git(args, options = {}) {
      const place = { folder, gitDir: folder, configuration: options.configuration ?? "ours" } as const;
      // A killed git process may have left several locks.
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

// Git holds the locks of refs for milliseconds. A younger lock may belong to a process that we have not seen yet.
const youngest = 1_000;
// Longer than any of our timeouts, for systems that do not list processes.
const surelyDead = 60 * 60 * 1_000;

/** Only the daemon writes here, so a lock without a running git process was left by a killed one. */
function removeDeadLock(error: unknown, folder: string): boolean {
  if (!(error instanceof Fault) || error.code !== "git.locked") return false;
  const { path, since, holders } = error.cause as LeftLock;
  if (since === undefined || !path.startsWith(folder + sep)) return false;
  const age = Date.now() - since;
  const isDead = holders === undefined ? age > surelyDead : holders.length === 0 && age > youngest;
  if (isDead) rmSync(path, { force: true });
  return isDead;
}
