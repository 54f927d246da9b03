import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { TaskEvent } from "../../../engine/decision.ts";
import type { Store, StoredEvent } from "../../../ports/store.ts";

/** The history. `add` belongs to the transaction of its caller. */
export interface Events extends Pick<Store, "listEvents" | "lastEvent"> {
  add(task: string, project: string, revision: number, events: readonly TaskEvent[], at: number): void;
}

export function createEvents(database: DatabaseSync): Events {
  const insert = database.prepare(
    "insert into event (task, project, revision, type, actor, data, changes, at) values (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const last = database.prepare("select coalesce(max(position), 0) as last from event");
  const statements = {
    all: database.prepare("select * from event where position > ? order by position limit ?"),
    project: database.prepare("select * from event where position > ? and project = ? order by position limit ?"),
    task: database.prepare("select * from event where position > ? and task = ? order by position limit ?"),
  };

  return {
    add: (task, project, revision, events, at) => {
      for (const { type, by, data, set } of events) {
        insert.run(task, project, revision, type, by, JSON.stringify(data), writeChanges(set), at);
      }
    },
    listEvents: async ({ task, project }, after, limit) => {
      const kind = task !== undefined ? "task" : project !== undefined ? "project" : "all";
      const value = task ?? project;
      const values: SQLInputValue[] = value === undefined ? [after, limit] : [after, value, limit];
      return statements[kind].all(...values).map(read);
    },
    lastEvent: async () => Number(last.get()?.last),
  };
}

// JSON has no `undefined`, but an event can take something away.
const taken = "\u0000taken";

function writeChanges(set: TaskEvent["set"]): string {
  return JSON.stringify(
    Object.fromEntries(Object.entries(set).map(([key, value]) => [key, value === undefined ? taken : value])),
  );
}

function readChanges(text: string): TaskEvent["set"] {
  const set = JSON.parse(text) as Record<string, unknown>;
  for (const key of Object.keys(set)) if (set[key] === taken) set[key] = undefined;
  return set as TaskEvent["set"];
}

function read(row: Record<string, unknown>): StoredEvent {
  return {
    position: Number(row.position),
    task: String(row.task),
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
