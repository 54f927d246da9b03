import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { TaskEvent } from "../../../engine/decision.ts";
import type { Store, StoredEvent } from "../../../ports/store.ts";
import { readChanges, writeChanges } from "../changes.ts";
import type { Read } from "./writer.ts";

/** The history. `add` belongs to the transaction of its caller. */
export interface Events extends Pick<Store, "listEvents" | "lastEvent"> {
  add(position: number, project: string, revision: number, events: readonly TaskEvent[], at: number): void;
}

export function createEvents(database: DatabaseSync, read: Read): Events {
  const insert = database.prepare(
    "insert into event (task, project, revision, type, actor, data, changes, at) values (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const last = database.prepare("select coalesce(max(position), 0) as last from event");
  const select = (...conditions: readonly string[]) =>
    database.prepare(
      `select event.*, (select task.id from task where task.position = event.task) as task_id
       from event where ${["event.position > ?", ...conditions].join(" and ")} order by event.position limit ?`,
    );
  const ofTask = "event.task = (select position from task where id = ?)";
  const statements = {
    all: select(),
    project: select("event.project = ?"),
    task: select(ofTask),
    both: select(ofTask, "event.project = ?"),
  };

  return {
    add: (position, project, revision, events, at) => {
      for (const { type, by, data, set } of events) {
        insert.run(position, project, revision, type, by, JSON.stringify(data), writeChanges(set), at);
      }
    },
    listEvents: ({ task, project }, after, limit) =>
      read(() => {
        const values: SQLInputValue[] = [task, project].filter((value) => value !== undefined);
        const kind =
          values.length === 2 ? "both" : task !== undefined ? "task" : project !== undefined ? "project" : "all";
        return statements[kind].all(after, ...values, limit).map(toEvent);
      }),
    lastEvent: () => read(() => Number(last.get()?.last)),
  };
}

function toEvent(row: Record<string, unknown>): StoredEvent {
  return {
    position: Number(row.position),
    task: String(row.task_id),
    project: String(row.project),
    revision: Number(row.revision),
    event: {
      type: String(row.type) as TaskEvent["type"],
      by: String(row.actor),
      data: JSON.parse(String(row.data)),
      set: readChanges(String(row.changes)),
    },
    at: Number(row.at),
  };
}
