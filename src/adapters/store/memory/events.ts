import type { Store, StoredEvent } from "../../../ports/store.ts";
import { readChanges } from "../changes.ts";
import { type EventRow, keep, mustHaveTask, prepareEvents, type Run, type Tables } from "./tables.ts";

/** The history. */
export function createEvents(
  tables: Tables,
  read: Run,
  write: Run,
): Pick<Store, "addEvents" | "listEvents" | "lastEvent"> {
  return {
    addEvents: (id, events, at) =>
      write(() => {
        const task = mustHaveTask(tables, id);
        keep(tables, task, prepareEvents(tables, task, task.revision, events, at), []);
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
          if (fits) found.push(toEvent(event));
        }
        return found;
      }),
    lastEvent: () => read(() => tables.events.at(-1)?.position ?? 0),
  };
}

function toEvent({ type, by, data, changes, ...rest }: EventRow): StoredEvent {
  return { ...rest, event: { type, by, data: JSON.parse(data), set: readChanges(changes) } };
}
