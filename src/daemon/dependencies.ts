import { startOf } from "../engine/persons-turn.ts";
import type { Task } from "../engine/task.ts";
import { Fault } from "../fault.ts";
import type { Core } from "./core.ts";
import { allTasks } from "./project.ts";

/**
 * Refuses to delete tasks that were never done and that others wait for: a dependency that is gone counts as done, so these
 * would start.
 */
export async function refuseAwaited(core: Core, isDeleted: (task: Task) => boolean): Promise<void> {
  for (const { task } of await allTasks(core.store, { isOpen: true })) {
    if (task.dependsOn.length === 0 || isDeleted(task) || !(await isToStart(core, task))) continue;
    for (const id of task.dependsOn) {
      const other = (await core.store.getTask(id))?.task;
      if (other === undefined || !isDeleted(other) || (await isDone(core, other))) continue;
      const [name, waiting] = [other, task].map(({ project, number }) => `${project}#${number}`);
      throw new Fault("task.in-use", `${waiting} depends on ${name}, which was never done.`, {
        hint: `Remove the dependency first: signalbox task update ${task.id} --depends-on ""\nOr cancel the task: signalbox task cancel ${task.id}`,
      });
    }
  }
}

async function isToStart({ workflows }: Core, task: Task): Promise<boolean> {
  const workflow = await workflows.get(task.workflowHash).catch(unlessLost);
  return workflow !== undefined && startOf(workflow, task) !== undefined;
}

async function isDone({ workflows }: Core, { workflowHash, status }: Task): Promise<boolean> {
  return (await workflows.get(workflowHash).catch(unlessLost))?.states[status]?.outcome === "done";
}

/** A workflow that is lost says nothing about its tasks. */
function unlessLost(error: unknown): undefined {
  if (!(error instanceof Fault)) throw error;
}
