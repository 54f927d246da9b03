import type { Task } from "../engine/task.ts";
import type { Outcome, Workflow } from "../engine/workflow.ts";
import type { Store } from "../ports/store.ts";
import { allTasks, parentOf } from "./project.ts";

/** The last try at one item of a task's plan. */
export interface PartOfTask {
  readonly task: Task;
  readonly title: string;
  /** How it ended; undefined while it is open. A part that was skipped or stopped is `cancelled`. */
  readonly outcome: Outcome | undefined;
}

interface PartsPorts {
  readonly store: Pick<Store, "listTasks">;
  workflowOf(task: Task): Promise<Workflow>;
}

/** The parts of a task's plan in the order in which they were made, each with its last try. */
export async function partsOf({ store, workflowOf }: PartsPorts, { id }: Task): Promise<readonly PartOfTask[]> {
  const children = (await allTasks(store, { parent: id }))
    .map(({ task }) => task)
    .filter((each) => parentOf(each) === id);
  const last = new Map<string, Task>();
  for (const child of children.toReversed()) {
    const key = `${child.part?.stay} ${child.part?.item}`;
    const before = last.get(key);
    if (before === undefined || (before.part?.try ?? 0) <= (child.part?.try ?? 0)) last.set(key, child);
  }
  const parts: PartOfTask[] = [];
  for (const task of last.values()) {
    const outcome = (await workflowOf(task)).states[task.status]?.outcome;
    parts.push({ task, title: task.part?.title ?? task.summary, outcome });
  }
  return parts;
}
