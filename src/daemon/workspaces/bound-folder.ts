import { actions } from "../../engine/actions/index.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Store } from "../../ports/store.ts";
import type { Perform, Performers } from "../perform.ts";

/** The workspace that is bound to a task. There is no other folder for it to work in, least of all the user's checkout. */
export async function boundFolder(store: Store, task: Task): Promise<string> {
  const folder = task.workspace;
  const isCheckout = (await store.getProject(task.project))?.path === folder;
  if (!isCheckout && (await isBound(store, task))) return folder;
  const name = `${task.project}#${task.number}`;
  throw new Fault("workspace.none", `${name} has no workspace, and nothing is ever started in your own checkout.`, {
    hint: `Try again: signalbox task retry ${task.id}`,
  });
}

/**
 * Wraps what happens in a workspace: where the task has none by then, or somebody has deleted it, it is acquired first. The
 * engine orders that beforehand; this covers what has happened since, and orders of earlier versions.
 */
export function performInWorkspace(
  store: Store,
  performers: Performers,
  isWhole: (task: Task) => Promise<boolean>,
): Performers {
  return Object.fromEntries(
    Object.entries(performers).map(([name, perform]) => {
      const where = actions[name]?.inWorkspace;
      return [name, where === undefined ? perform : acquiringFirst(perform, where === "always")];
    }),
  );

  function acquiringFirst(perform: Perform, isAlways: boolean): Perform {
    return async (effect, { task, key }) => {
      const isBoundNow = await isBound(store, task);
      if (isBoundNow ? !(await isWhole(task)) : isAlways)
        await performers.acquire_workspace?.({ action: "acquire_workspace", params: {} }, { task, key });
      const now = (await store.getTask(task.id))?.task ?? task;
      return perform(effect, { task: now, key });
    };
  }
}

async function isBound(store: Store, { id, workspace }: Task): Promise<boolean> {
  return workspace !== "" && (await store.workspaces.list({ task: id })).some(({ path }) => path === workspace);
}
