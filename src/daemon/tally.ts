import type { StoredTask } from "../ports/store.ts";
import { createNewest } from "./newest.ts";
import { needsPerson } from "./views.ts";
import type { WorkflowCache } from "./workflow-cache.ts";

/** How many tasks are open, and how many of them need a person: known without asking the store. */
export interface Tally {
  noticed(stored: StoredTask): Promise<void>;
  forgot(task: string): void;
  counts(): { readonly open: number; readonly needPerson: number };
}

export function createTally(workflows: WorkflowCache): Tally {
  const open = new Map<string, boolean>();
  const newest = createNewest();
  let needPerson = 0;
  const set = (task: string, needs: boolean | undefined) => {
    if (open.get(task) === true) needPerson--;
    if (needs === true) needPerson++;
    if (needs === undefined) open.delete(task);
    else open.set(task, needs);
  };
  return {
    async noticed(stored) {
      const { task, isOpen } = stored;
      if (!newest.hear(stored)) return;
      const state = isOpen ? (await workflows.get(task.workflowHash)).states[task.status] : undefined;
      if (!newest.isLast(stored)) return;
      if (!isOpen) newest.forget(task.id);
      set(task.id, state === undefined ? undefined : needsPerson(state, task));
    },
    forgot(task) {
      newest.forget(task);
      set(task, undefined);
    },
    counts: () => ({ open: open.size, needPerson }),
  };
}
