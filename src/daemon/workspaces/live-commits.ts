import type { Store } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import type { WorkspacesOf } from "./project-workspaces.ts";

/** Collects the commits of agents while they work, so that they outlive their workspace. */
export interface LiveCommits {
  /** A run of the task was checked: its agent may have committed since. */
  looked(task: string): void;
  /** The task is over. */
  forget(task: string): void;
  /** Waits for the checks in progress. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

interface LiveCommitsPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly workspacesOf: WorkspacesOf;
}

/** Milliseconds between two checks of a workspace: its agent may report many events a second. */
const checkInterval = 2_000;
/** Milliseconds until a workspace that could not be collected from is tried again. */
const retryInterval = 60_000;

/**
 * Reads the tip of the checked-out branch from git's files, which costs no process, and collects only if it has moved. Commits
 * on no branch are not collected here: HEAD is detached during a rebase, whose end moves the branch.
 */
export function createLiveCommits({ store, clock, log, workspacesOf }: LiveCommitsPorts): LiveCommits {
  /** The last tip that was collected for a task, and when its workspace is checked next. */
  const known = new Map<string, { readonly tip: string; readonly nextAt: number }>();
  const underWay = new Map<string, Promise<void>>();
  let isStopped = false;

  const collect = async (id: string, before: string): Promise<string> => {
    const task = (await store.getTask(id))?.task;
    const project = task && (await store.getProject(task.project));
    if (task === undefined || project === undefined || task.workspace === "") return before;
    const { control, kind } = await workspacesOf(project);
    const folder = task.workspace;
    const branch = await kind.currentBranch(folder);
    const tip = branch && (await kind.branchAt(folder, branch));
    if (branch === undefined || tip === undefined) return before;
    const seen = `${branch} ${tip}`;
    if (seen !== before && !isStopped) await control.collect({ folder, branch, task: id, seenAt: tip });
    return seen;
  };

  const idle = async () => void (await Promise.all(underWay.values()));

  return {
    looked(id) {
      const { tip = "", nextAt = 0 } = known.get(id) ?? {};
      // A clock that was set back must not delay the check.
      if (isStopped || underWay.has(id) || (clock.now() < nextAt && nextAt - clock.now() <= retryInterval)) return;
      const working = collect(id, tip)
        .then((seen) => void known.set(id, { tip: seen, nextAt: clock.now() + checkInterval }))
        .catch((error) => {
          // Requests that need the commits report the fault.
          log.debug("The commits of a working agent could not be collected", { task: id, error });
          known.set(id, { tip, nextAt: clock.now() + retryInterval });
        })
        .finally(() => underWay.delete(id));
      underWay.set(id, working);
    },
    forget: (id) => void known.delete(id),
    idle,
    stop() {
      isStopped = true;
      return idle();
    },
  };
}
