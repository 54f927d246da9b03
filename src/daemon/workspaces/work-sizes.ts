import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Store } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import type { Where } from "../landing-place.ts";
import { parentOf, remoteName, targetOf } from "../project.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "./project-workspaces.ts";

/** Counts the lines and commits of a task's work whenever new commits are collected, so that no list has to run git for them. */
export interface WorkSizes {
  /** The control repository has this commit of a task's work. */
  collected(task: string, commit: string): void;
  /** Waits for the counts in progress. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

interface WorkSizesPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly workspacesOf: WorkspacesOf;
  where(): Where;
}

/** How many of the last counted commits are remembered. */
const maxKnown = 2_000;

export function createWorkSizes({ store, clock, log, workspacesOf, where }: WorkSizesPorts): WorkSizes {
  /** The newest collected commit of tasks. */
  const newest = new Map<string, string>();
  const underWay = new Map<string, Promise<void>>();
  let isStopped = false;

  const count = async (id: string): Promise<void> => {
    for (let commit = newest.get(id); commit !== undefined && !isStopped; ) {
      const task = (await store.getTask(id))?.task;
      const project = task && (await store.getProject(task.project));
      if (task === undefined || project === undefined || (await store.workSizes.get(id))?.commit === commit) return;
      const own = await workspacesOf(project);
      const base = await baseOf(own, task, targetOf(project, task), where(), commit);
      if (base === undefined) return;
      const lines = await own.control.changedLines(base, commit);
      const commits = await own.control.countCommits(base, commit);
      const sum = (of: (each: (typeof lines)[number]) => number | undefined) =>
        lines.reduce((all, each) => all + (of(each) ?? 0), 0);
      await store.workSizes.put({
        ...{ id, project: task.project, task: id, at: clock.now(), commit, base, commits },
        ...{ added: sum(({ added }) => added), removed: sum(({ deleted }) => deleted) },
      });
      const last = newest.get(id);
      // Another was collected meanwhile; those in between do not matter.
      if (last === commit) return;
      commit = last;
    }
  };

  const idle = async () => void (await Promise.all(underWay.values()));

  return {
    collected(id, commit) {
      if (isStopped || newest.get(id) === commit) return;
      newest.delete(id);
      newest.set(id, commit);
      const [oldest] = newest.keys();
      if (newest.size > maxKnown && oldest !== undefined) newest.delete(oldest);
      if (underWay.has(id)) return;
      const working = count(id)
        .catch((error) => {
          // The next collection counts again.
          newest.delete(id);
          log.debug("The size of a task's work could not be counted", { task: id, error });
        })
        .finally(() => underWay.delete(id));
      underWay.set(id, working);
    },
    idle,
    stop() {
      isStopped = true;
      return idle();
    },
  };
}

/** The newest commit of the task's target that the work contains, as far as the control repository knows the target. */
async function baseOf(
  { control }: ProjectWorkspaces,
  task: Task,
  target: string,
  where: Where,
  commit: string,
): Promise<string | undefined> {
  const parent = parentOf(task);
  const users = [`refs/remotes/user/${target}`, `refs/remotes/${remoteName}/${target}`];
  const refs = parent === "" ? (where === "remote" ? users.toReversed() : users) : [taskRef(parent), ...users];
  for (const ref of refs) {
    const tip = await control.commitAt(ref);
    const base = tip && (await control.mergeBase(tip, commit).catch(noBase));
    if (base !== undefined && base !== "") return base;
  }
  return undefined;
}

function noBase(error: unknown): undefined {
  if (error instanceof Fault) return undefined;
  throw error;
}
