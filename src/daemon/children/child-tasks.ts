import { type ChildTask, newestTries, stateOfChild } from "../../engine/children.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import type { Store } from "../../ports/store.ts";
import { allTasks } from "../project.ts";

interface ChildPorts {
  readonly store: Pick<Store, "listTasks">;
  workflowOf(task: Task): Promise<Workflow>;
}

/** The children that the fan-outs of a task have made, the oldest first. */
export async function childrenOf({ store, workflowOf }: ChildPorts, parent: string): Promise<readonly ChildTask[]> {
  const stored = (await allTasks(store, { parent })).toReversed();
  const found: ChildTask[] = [];
  for (const { task, isOpen } of stored) {
    const { part } = task;
    if (part === undefined) continue;
    // A child whose workflow no longer loads must not stop its siblings.
    const workflow = await workflowOf(task).catch(() => undefined);
    found.push({ task: { ...task, part }, isOpen, workflow });
  }
  return found;
}

/** The children of a task's last fan-out, for guards: all that were not done have failed. */
export async function childNumbers(ports: ChildPorts, { id }: Pick<Task, "id">) {
  const all = await childrenOf(ports, id);
  const states = newestTries(all, Math.max(0, ...all.map(({ task }) => task.part.stay))).map(stateOfChild);
  const done = states.filter((state) => state === "done").length;
  return { children_done: done, children_failed: states.length - done };
}
