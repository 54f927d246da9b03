import type { Facts } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import type { Project } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import { lastSeen, type Where } from "../merging/find-tips.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

/** What git says about a task's workspace. */
export type WorkspaceFacts = Pick<Facts, "head" | "taskFileTracked"> & { readonly numbers: Facts["numbers"] };

const nowhere: WorkspaceFacts = { head: "", taskFileTracked: false, numbers: { workspace: 0 } };

/**
 * The branch as it is now, collected, so that what is decided about it is safe in the control repository whatever the
 * agent does next.
 */
export async function workspaceFacts(
  { control, kind }: ProjectWorkspaces,
  project: Project,
  task: Task,
  where: Where,
): Promise<WorkspaceFacts> {
  const found = await kind.inspect(task.workspace);
  if (found.kind !== "there") return nowhere;
  const { commit } =
    found.branch === undefined
      ? { commit: found.head }
      : await control.collect({ folder: task.workspace, branch: found.branch, task: task.id });
  const base = await lastSeen(control, targetOf(project, task), where);
  const [commits, merged] =
    base === undefined
      ? [0, false]
      : await Promise.all([control.countCommits(base, commit), control.isAncestor(commit, base)]);
  return {
    head: commit,
    taskFileTracked: await kind.isTaskFileTracked(task.workspace, await kind.taskFileName(task.workspace)),
    numbers: { workspace: 1, dirty: found.dirty ? 1 : 0, commits, merged: merged && commits === 0 ? 1 : 0 },
  };
}
