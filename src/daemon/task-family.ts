import { Fault } from "../fault.ts";
import type { Store, StoredTask } from "../ports/store.ts";
import type { Core } from "./core.ts";
import { allTasks } from "./project.ts";

/** All tasks below a task, open or ended, at any depth; the nearest first. */
export async function tasksBelow(store: Pick<Store, "listTasks">, top: string): Promise<readonly StoredTask[]> {
  const found = new Map<string, StoredTask>();
  const parents = [top];
  for (const parent of parents)
    for (const stored of await allTasks(store, { parent })) {
      const { id } = stored.task;
      if (found.has(id) || id === top) continue;
      found.set(id, stored);
      parents.push(id);
    }
  return [...found.values()];
}

/**
 * A task is about to be deleted: what it used counts for the task above it, which also becomes the parent of the tasks below,
 * so that budgets and `--tree` still reach them. Parts stay parts of a plan that is gone; only their use moves up.
 */
export async function leaveFamily(core: Core, { task: { id, parent } }: StoredTask): Promise<void> {
  const { store, agents } = core;
  const heir = parent !== "" && (await store.getTask(parent)) !== undefined ? parent : "";
  const bequeath = async (task: string) => (heir === "" ? undefined : agents?.book.bequeath(task, heir));
  for (const { task } of await allTasks(store, { parent: id })) {
    if (task.part === undefined && (await moveTo(core, task.id, heir))) continue;
    const below = await tasksBelow(store, task.id);
    for (const each of [task.id, ...below.map((stored) => stored.task.id)]) await bequeath(each);
  }
  await bequeath(id);
}

/** False for a task whose workflow is lost, which nothing can change. */
async function moveTo({ submit }: Core, task: string, parent: string): Promise<boolean> {
  try {
    await submit(task, { kind: "edit", actor: { role: "engine" }, set: { parent } });
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code.startsWith("workflow.")) return false;
    throw error;
  }
}
