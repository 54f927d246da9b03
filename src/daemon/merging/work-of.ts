import type { Task } from "../../engine/task.ts";
import type { Project } from "../../ports/store.ts";
import { isOtherBranch } from "../workspaces/checked-out.ts";
import { keptWork } from "../workspaces/kept-work.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { movedPast } from "./moved-past.ts";

/** The commit with all of a task's work, or why there is none that could be merged. */
export type Work =
  | { readonly kind: "ready"; readonly commit: string }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Looks at what a task has done: in its workspace or, where that is gone, at what was collected from it. `leaves`: what is
 * not committed is none of it, such as what tests have left there.
 */
export async function workOf(own: ProjectWorkspaces, project: Project, task: Task, leaves = false): Promise<Work> {
  const { control, kind } = own;
  const folder = task.workspace;
  const found = folder === "" ? undefined : await kind.inspect(folder);
  if (found?.kind !== "there") return collected(own, project, task);
  if (found.operation !== undefined)
    return { kind: "refused", reason: `A ${found.operation} is under way in ${folder}. End it, or abort it.` };
  if (found.branch === undefined)
    return {
      kind: "refused",
      reason: `${folder} is on no branch. Go back to it there, with what was committed: git switch ${task.branch} && git merge ${found.head}`,
    };
  // What is not committed would not be in the branch, but the task would count as merged.
  if (found.dirty && !leaves)
    return { kind: "refused", reason: `There are changes in ${folder} that are not committed. Commit them there.` };
  if (await kind.isTaskFileTracked(folder, await kind.taskFileName(folder)))
    return {
      kind: "refused",
      reason: `The branch "${found.branch}" contains the task file. Take it out: git rm --cached`,
    };
  try {
    const { commit } = await control.collect({ folder, branch: found.branch, task: task.id, seenAt: found.head });
    const past = await movedPast(own, project, task, async () => commit);
    return past === undefined ? { kind: "ready", commit } : { kind: "refused", reason: `${past.reason}\n${past.fix}` };
  } catch (error) {
    if (isOtherBranch(error)) return { kind: "refused", reason: `${error.message} ${error.hint}` };
    throw error;
  }
}

async function collected(own: ProjectWorkspaces, project: Project, task: Task): Promise<Work> {
  const commit = await keptWork(own, project, task);
  const past = commit === undefined ? undefined : await movedPast(own, project, task, async () => commit);
  if (past !== undefined) return { kind: "refused", reason: `${past.reason}\n${past.fix}` };
  if (commit !== undefined) return { kind: "ready", commit };
  return { kind: "refused", reason: `There is no branch "${task.branch}" yet, so there is nothing to merge.` };
}
