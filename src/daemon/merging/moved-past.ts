import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Project } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";

export interface MovedPast {
  /** A sentence. */
  readonly reason: string;
  readonly fix: string;
}

/**
 * Whether somebody has moved the branch that work goes into to a commit of the task's, past every merge: the user's checkout
 * of that branch was left behind, and says that what the task has added is deleted. `headOf` is asked only where a checkout
 * was left behind.
 */
export async function movedPast(
  { git, control, folder }: Pick<ProjectWorkspaces, "git" | "control" | "folder">,
  project: Project,
  task: Pick<Task, "id" | "base">,
  headOf: () => Promise<string | undefined>,
): Promise<MovedPast | undefined> {
  const target = targetOf(project, task);
  const left = await git.leftBehind(project.path, target, folder);
  const head = left && (await headOf());
  if (left === undefined || head === undefined) return undefined;
  const { folder: checkout, before, after } = left;
  try {
    await control.syncFrom({ from: project.path, name: "user", only: [target] });
    if (!(await control.isAncestor(head, after)) || (await control.isAncestor(head, before))) return undefined;
  } catch (error) {
    // What the control repository does not have is no commit of the task's.
    if (error instanceof Fault) return undefined;
    throw error;
  }
  const [from, to] = [before.slice(0, 10), after.slice(0, 10)];
  return {
    reason: `"${target}" was moved to commits of this task without a merge, from ${from} to ${to}. The files in ${checkout} are still those of ${from}, so git says there that what is new was deleted.`,
    fix: `Look at them: git -C ${checkout} log -p ${from}..${to}\nTake it back, and then merge the task: git -C ${checkout} update-ref refs/heads/${target} ${before} ${after}`,
  };
}
