import type { Task } from "../../engine/task.ts";
import type { Store } from "../../ports/store.ts";
import { allTasks } from "./all-tasks.ts";

/** Another open task of the same project that has the branch. */
export async function otherTaskWith(
  store: Store,
  { id, project }: Pick<Task, "id" | "project">,
  branch: string,
): Promise<Task | undefined> {
  const open = await allTasks(store, { project, isOpen: true });
  return open.find(({ task }) => task.branch === branch && task.id !== id)?.task;
}
