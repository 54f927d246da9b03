import type { DatabaseSync } from "node:sqlite";
import type { Store, StoredEvent } from "../../../ports/store.ts";
import { readEvents } from "../event-text.ts";
import { chain } from "./chain.ts";
import type { History } from "./history.ts";
import { prepareReading } from "./reading.ts";
import type { Read, Write } from "./writer.ts";

type Row = [id: number, task: string, project: string, revision: number, at: number, effects: number, events: string];

/** Reads history, and adds to it what changes nothing. */
export function createEvents(
  database: DatabaseSync,
  read: Read,
  write: Write,
  { append }: History,
): Pick<Store, "addEvents" | "listEvents" | "lastEvent" | "lastNumber"> {
  const select = (condition: string) =>
    prepareReading<Row>(
      database,
      `select history.id, task.id, task.project, history.revision, history.at, length(history.states), history.events
       from history cross join task on task.position = history.task
       where history.events is not null and ${condition} order by history.id`,
    );
  const all = select("history.id > ?");
  const ofProject = select("history.id > ? and task.project = ?");
  const one = select("history.id = ?");
  const idsOfTask = prepareReading<[number]>(
    database,
    `${chain("select last from task where id = ?2 and project = coalesce(?3, project) and last > ?1", "?1 + 1")}
     select id from chain order by id`,
  );
  const last = prepareReading<[number]>(
    database,
    "select id - length(states) from history where events is not null order by id desc limit 1",
  );
  const lastNumber = prepareReading<[number | null]>(database, "select max(id) from history");
  const ofTask = function* (after: number, task: string, project: string | undefined) {
    for (const [id] of idsOfTask.all(after, task, project ?? null)) yield* one.all(id);
  };

  return {
    addEvents: (task, events, at) => write(() => append(task, events, at)),
    listEvents: ({ task, project }, after, limit) =>
      read(() => {
        if (task !== undefined) return take(ofTask(after, task, project), after, limit);
        return take(project === undefined ? all.iterate(after) : ofProject.iterate(after, project), after, limit);
      }),
    lastEvent: () => read(() => last.get()?.[0] ?? 0),
    lastNumber: () => read(() => lastNumber.get()?.[0] ?? 0),
  };
}

/** A row may hold many events, so rows are read one by one until there are enough. */
function take(rows: Iterable<Row>, after: number, limit: number): readonly StoredEvent[] {
  const found: StoredEvent[] = [];
  for (const row of rows) {
    for (const event of toEvents(row)) if (event.position > after) found.push(event);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** The numbers of a row end with its id: those of its events first, then those of its effects. */
function toEvents([id, task, project, revision, at, effects, text]: Row): readonly StoredEvent[] {
  const events = readEvents(text);
  const before = id - effects - events.length;
  return events.map((event, i) => ({ position: before + 1 + i, task, project, revision, event, at }));
}
