import type { Task } from "../../engine/task.ts";
import type { Store } from "../../ports/store.ts";

const pageSize = 500;

/** Another open task of the same project that has the branch. */
export async function otherTaskWith(
  store: Store,
  { id, project }: Pick<Task, "id" | "project">,
  branch: string,
): Promise<Task | undefined> {
  for (let before: number | undefined; ; ) {
    const limit = pageSize;
    const page = await store.listTasks({ project, isOpen: true }, before === undefined ? { limit } : { before, limit });
    const found = page.find(({ task }) => task.branch === branch && task.id !== id);
    if (found !== undefined) return found.task;
    before = page.at(-1)?.order;
    if (before === undefined) return undefined;
  }
}
