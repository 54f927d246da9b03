import type { Store, StoredEvent } from "../../../ports/store.ts";
import { keep, mustHaveTask, prepare, type Run, type Tables } from "./tables.ts";

/** The history. */
export function createEvents(
  tables: Tables,
  read: Run,
  write: Run,
): Pick<Store, "addEvents" | "listEvents" | "lastEvent" | "lastNumber"> {
  return {
    addEvents: (id, events, at) =>
      write(() => {
        const task = mustHaveTask(tables, id);
        keep(tables, task, prepare(tables, task, { revision: task.revision, at, events }));
      }),
    listEvents: ({ task, project }, after, limit) =>
      read(() => {
        const { events } = tables;
        const found: StoredEvent[] = [];
        // Readers follow the end, so that is where to look.
        for (let i = events.findLastIndex((event) => event.position <= after) + 1; i < events.length; i++) {
          const event = events[i];
          if (event === undefined || found.length >= limit) break;
          const fits = event.task === (task ?? event.task) && event.project === (project ?? event.project);
          if (fits) found.push(event);
        }
        return found;
      }),
    lastEvent: () => read(() => tables.events.at(-1)?.position ?? 0),
    lastNumber: () => read(() => tables.last.number),
  };
}
