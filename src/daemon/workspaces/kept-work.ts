import type { Task } from "../../engine/task.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

/**
 * The commit that a task's work is at where its workspace cannot tell, because it is gone or was given back: as it was
 * last collected, or where its branch is in the user's repository if that has more. Undefined where there is neither.
 */
export async function keptWork(
  { control }: Pick<ProjectWorkspaces, "control">,
  project: Project,
  { id, branch }: Pick<Task, "id" | "branch">,
): Promise<string | undefined> {
  const collected = await control.commitAt(taskRef(id));
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  const own = branches[branch];
  if (collected === undefined || own === undefined) return collected ?? own;
  return (await control.isAncestor(collected, own)) ? own : collected;
}
