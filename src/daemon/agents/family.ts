import type { Task } from "../../engine/task.ts";
import type { Store } from "../../ports/store.ts";

/** The tasks that a budget is for: the one at the top, and everybody below it. */
export async function familyOf(store: Store, task: Task): Promise<ReadonlySet<string>> {
  let top = task;
  for (let depth = 0; top.parent !== "" && depth < deepest; depth++) {
    const parent = (await store.getTask(top.parent))?.task;
    if (parent === undefined) break;
    top = parent;
  }
  const family = new Set([top.id, task.id]);
  await addChildren(store, top.id, family, 0);
  return family;
}

const deepest = 10;
const mostChildren = 1_000;

async function addChildren(store: Store, parent: string, family: Set<string>, depth: number): Promise<void> {
  if (depth >= deepest) return;
  for (const { task } of await store.listTasks({ parent }, { limit: mostChildren })) {
    if (family.has(task.id)) continue;
    family.add(task.id);
    await addChildren(store, task.id, family, depth + 1);
  }
}
