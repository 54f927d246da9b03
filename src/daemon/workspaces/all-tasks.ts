import type { Store, StoredTask, TaskFilter } from "../../ports/store.ts";

const pageSize = 500;

/** Every task that a filter lets through, the newest first. */
export async function allTasks(store: Pick<Store, "listTasks">, filter: TaskFilter): Promise<readonly StoredTask[]> {
  const found: StoredTask[] = [];
  for (let before: number | undefined; ; ) {
    const limit = pageSize;
    const page = await store.listTasks(filter, before === undefined ? { limit } : { before, limit });
    found.push(...page);
    before = page.at(-1)?.order;
    if (before === undefined) return found;
  }
}
