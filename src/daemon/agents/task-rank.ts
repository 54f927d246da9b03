import type { Task } from "../../engine/task.ts";
import { waysToDone } from "../../engine/ways-to-done.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Store } from "../../ports/store.ts";
import type { Rank } from "./dispatch.ts";

export interface RankPorts {
  readonly store: Store;
  workflowOf(task: Task): Promise<Workflow>;
}

/** The rank of a task's runs, as the task is now. */
export async function taskRank({ store, workflowOf }: RankPorts, id: string): Promise<Rank> {
  const stored = await store.getTask(id);
  if (stored === undefined) throw new Fault("task.missing", `There is no task ${id}.`);
  const { task, order } = stored;
  return { ways: waysToDone(await workflowOf(task), task.status), priority: task.priority, order };
}
