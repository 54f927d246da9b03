import type { Task } from "../engine/task.ts";
import type { Project, Store } from "../ports/store.ts";

/** The branch that a task's work goes into, and starts from where its workflow says nothing else. */
export function targetOf({ defaultBranch }: Project, { base }: Pick<Task, "base">): string {
  return base || defaultBranch;
}

/** The branch that a task's work is compared with: its parent's, else the one that it goes into. */
export async function baseOf(store: Pick<Store, "getTask">, project: Project, task: Task): Promise<string> {
  const parent = task.parent === "" ? undefined : (await store.getTask(task.parent))?.task;
  return parent?.branch || targetOf(project, task);
}
