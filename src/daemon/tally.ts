import type { StoredTask } from "../ports/store.ts";
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
  let needPerson = 0;
  const set = (task: string, needs: boolean | undefined) => {
    if (open.get(task) === true) needPerson--;
    if (needs === true) needPerson++;
    if (needs === undefined) open.delete(task);
    else open.set(task, needs);
  };
  return {
    async noticed({ task, isOpen }) {
      const state = isOpen ? (await workflows.get(task.workflowHash)).states[task.status] : undefined;
      set(task.id, state === undefined ? undefined : needsPerson(state, task));
    },
    forgot: (task) => set(task, undefined),
    counts: () => ({ open: open.size, needPerson }),
  };
}
