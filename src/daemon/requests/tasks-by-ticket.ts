import type { Task } from "../../engine/task.ts";
import type { Store } from "../../ports/store.ts";

export interface TasksOfTicket {
  /** The one that is not over; there is at most one. */
  readonly open: Task | undefined;
  readonly newest: Task;
}

const pageSize = 500;

/** Which tasks of a project were made from which ticket. */
export async function tasksByTicket(store: Store, project: string): Promise<ReadonlyMap<string, TasksOfTicket>> {
  const found = new Map<string, TasksOfTicket>();
  for (let before: number | undefined; ; ) {
    const page = await store.listTasks(
      { project },
      before === undefined ? { limit: pageSize } : { before, limit: pageSize },
    );
    for (const { task, isOpen } of page) {
      const { ticket = "" } = task;
      if (ticket === "") continue;
      const known = found.get(ticket);
      const newest = known === undefined || known.newest.number < task.number ? task : known.newest;
      found.set(ticket, { open: isOpen ? task : known?.open, newest });
    }
    before = page.at(-1)?.order;
    if (before === undefined) return found;
  }
}
