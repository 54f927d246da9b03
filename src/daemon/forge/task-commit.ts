import type { Task } from "../../engine/task.ts";
import type { Project } from "../../ports/store.ts";
import { keptWork } from "../workspaces/kept-work.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";

/**
 * The commit that the task's work is at: collected from its workspace, else as it was last collected, else the user's own
 * branch of that name. Undefined where there is none of these.
 */
export async function taskCommit(
  { control, kind }: ProjectWorkspaces,
  project: Project,
  task: Task,
): Promise<string | undefined> {
  const found = task.workspace === "" ? undefined : await kind.inspect(task.workspace);
  if (found?.kind === "there" && found.branch !== undefined) {
    return (await control.collect({ folder: task.workspace, branch: found.branch, task: task.id })).commit;
  }
  return keptWork({ control }, project, task);
}
