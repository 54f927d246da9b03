import type { Task } from "../engine/task.ts";
import type { Project, Store } from "../ports/store.ts";

/** The branch that a task's work starts from, and is compared with: its parent's, else the default one. */
export async function baseOf(store: Pick<Store, "getTask">, project: Project, task: Task): Promise<string> {
  const parent = task.parent === "" ? undefined : (await store.getTask(task.parent))?.task;
  return parent?.branch || project.defaultBranch;
}
