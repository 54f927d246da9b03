import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Log } from "../../ports/log.ts";
import type { Project, Store } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import { isOwnBranch } from "../workspaces/ended-branches.ts";
import { otherTaskWith } from "../workspaces/other-task-with.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "../workspaces/project-workspaces.ts";

export interface DeleteBranchPorts {
  readonly store: Store;
  readonly log: Log;
  readonly workspacesOf: WorkspacesOf;
}

/**
 * Deletes the task's branch in the user's repository, once its work is elsewhere. Nothing where it is gone, or was not made
 * for the task.
 */
export function deleteBranch({ store, log, workspacesOf }: DeleteBranchPorts): Perform {
  return async (_, { task }) => {
    const project = await projectOf(store, task.project);
    const { branch } = task;
    if (branch === "") return;
    const workspaces = await workspacesOf(project);
    const targets = await targetsOf(store, project, task);
    const order = { from: project.path, name: "user", only: [branch, ...targets] };
    const { branches } = await workspaces.control.syncFrom(order);
    const tip = branches[branch];
    if (tip === undefined) return;
    if (targets.includes(branch)) throw left(branch, "work goes into it");
    if (!(await isOwnBranch(workspaces.control, task)))
      return log.info("The branch stays, because it was not made for the task", { task: task.id, branch });
    if (task.workspace !== "") throw left(branch, "the task still works on it", "Release the workspace first.");
    const other = await otherTaskWith(store, task, branch);
    if (other !== undefined) throw left(branch, `${other.project}#${other.number} works on it too`);
    if (!(await isElsewhere(workspaces, task, tip, branches, targets))) {
      throw left(branch, `its commits are not in ${targets.join(" or ")}, nor kept`, `Look at them: git log ${branch}`);
    }
    const done = await workspaces.kind.deleteBranch(branch, tip);
    if (done.kind === "checked-out") throw left(branch, `it is checked out in ${done.folder}`);
    log.info("The branch of a task was deleted", { task: task.id, branch, commit: tip });
  };
}

/** The branches that the task's work goes into. */
async function targetsOf(store: Store, project: Project, task: Task): Promise<readonly string[]> {
  const merges = await store.merges.list({ task: task.id });
  return [...new Set([project.defaultBranch, targetOf(project, task), ...merges.map(({ target }) => target)])];
}

async function isElsewhere(
  { control }: ProjectWorkspaces,
  task: Task,
  tip: string,
  branches: Readonly<Record<string, string>>,
  targets: readonly string[],
): Promise<boolean> {
  const places = [...targets.map((target) => branches[target]), await control.commitAt(taskRef(task.id))];
  for (const commit of places) if (commit !== undefined && (await control.isAncestor(tip, commit))) return true;
  return false;
}

function left(branch: string, why: string, hint = `Delete it yourself once you can: git branch -D ${branch}`): Fault {
  return new Fault("branch.in-use", `The branch ${JSON.stringify(branch)} stays: ${why}.`, { hint });
}
