import type { DatabaseSync } from "node:sqlite";
import type { Effect, TaskEvent } from "../../engine/decision.ts";
import type { Merge } from "../../ports/records.ts";
import type { Store, StoredEvent } from "../../ports/store.ts";
import { chain, prepareReading, type Read, type Write } from "./connection.ts";
import { taskMissing } from "./faults.ts";

type Changes = TaskEvent["set"];

/** Events as JSON. JSON has no `undefined` and no field of a task is null, so null means that the event removed it. */
function writeEvents(events: readonly TaskEvent[]): string {
  return JSON.stringify(events.map(({ type, by, data, set }) => ({ type, by, data, set: withNulls(set) })));
}

function readEvents(text: string): readonly TaskEvent[] {
  const events = JSON.parse(text) as readonly TaskEvent[];
  for (const { set } of events) withoutNulls(set as Record<string, unknown>);
  return events;
}

function withNulls(set: Changes): unknown {
  const written: Record<string, unknown> = {};
  for (const key in set) written[key] = set[key as keyof Changes] ?? null;
  return written;
}

function withoutNulls(set: Record<string, unknown>): void {
  for (const key of Object.keys(set)) if (set[key] === null) set[key] = undefined;
}

/** Reports gaps in a task's history, and rows that belong to no task. No foreign key checks that. */
export function checkHistory(database: DatabaseSync): readonly string[] {
  const chains = `with recursive chain (id, task) as (
    select last, position from task where last > 0
    union all
    select history.previous, chain.task from chain cross join history on history.id = chain.id
    where history.task = chain.task and history.previous between 1 and history.id - 1
  )`;
  const torn = prepareReading<[string]>(
    database,
    `${chains} select task.id from chain
     left join history on history.id = chain.id and history.task = chain.task
     join task on task.position = chain.task where history.id is null`,
  );
  const loose = prepareReading<[number]>(
    database,
    `${chains} select count(*) from history where task <> 0 and id not in (select id from chain)`,
  );
  const [count = 0] = loose.get() ?? [];
  return [
    ...torn.all().map(([id]) => `The history of task ${id} has a gap.`),
    ...(count === 0 ? [] : [`${count} rows of history belong to no task.`]),
  ];
}

type Row = [id: number, task: string, project: string, revision: number, at: number, effects: number, events: string];

/** The project of an event of the home. Such a row has one event, and 0 as its task. */
const projectOfHome = "json_extract(history.events, '$[0].data.project'), ''";

/** Reads history, and appends events that do not change a task. */
export function createEvents(
  database: DatabaseSync,
  read: Read,
  write: Write,
  { append }: History,
  putMerge: (merge: Merge) => void,
): Pick<Store, "addEvents" | "listEvents" | "listEventsBefore" | "lastEvent" | "lastNumber"> {
  const select = (condition: string, order = "") =>
    prepareReading<Row>(
      database,
      `select history.id, coalesce(task.id, ''), coalesce(task.project, ${projectOfHome}), history.revision, history.at,
         length(history.states), history.events
       from history left join task on task.position = history.task
       where history.events is not null and ${condition} order by history.id ${order}`,
    );
  const all = select("history.id > ?");
  const ofProject = select(`history.id > ? and coalesce(task.project, ${projectOfHome}) = ?`);
  // Part of the first row that ends at the position or after it may be before it.
  const isBefore = "history.id <= coalesce((select min(id) from history where id >= ?1), ?1)";
  const allBefore = select(isBefore, "desc");
  const ofProjectBefore = select(`${isBefore} and coalesce(task.project, ${projectOfHome}) = ?2`, "desc");
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
  const ofTaskBefore = function* (before: number, task: string, project: string | undefined) {
    const ids = idsOfTask.all(0, task, project ?? null).map(([id]) => id);
    const after = ids.findIndex((id) => id >= before);
    for (const id of (after < 0 ? ids : ids.slice(0, after + 1)).toReversed()) yield* one.all(id);
  };

  return {
    addEvents: (task, events, at, merge) =>
      write(() => {
        append(task, events, at);
        if (merge !== undefined) putMerge(merge);
      }),
    listEvents: ({ task, project }, after, limit) =>
      read(() => {
        if (task !== undefined) return take(ofTask(after, task, project), after, limit);
        return take(project === undefined ? all.iterate(after) : ofProject.iterate(after, project), after, limit);
      }),
    listEventsBefore: ({ task, project }, before, limit) =>
      read(() => {
        if (task !== undefined) return takeBefore(ofTaskBefore(before, task, project), before, limit);
        const rows = project === undefined ? allBefore.iterate(before) : ofProjectBefore.iterate(before, project);
        return takeBefore(rows, before, limit);
      }),
    lastEvent: () => read(() => last.get()?.[0] ?? 0),
    lastNumber: () => read(() => lastNumber.get()?.[0] ?? 0),
  };
}

/** Beyond this many characters, a page ends. Parsing more would block the daemon. */
const maxPage = 1024 * 1024;

function take(rows: Iterable<Row>, after: number, limit: number): readonly StoredEvent[] {
  return takeFrom(rows, (row) => toEvents(row).filter(({ position }) => position > after), limit);
}

function takeBefore(rows: Iterable<Row>, before: number, limit: number): readonly StoredEvent[] {
  const eventsOf = (row: Row) => toEvents(row).filter(({ position }) => position < before);
  return takeFrom(rows, (row) => eventsOf(row).toReversed(), limit);
}

/** A row may contain many events, so rows are read one by one until the limit is reached. */
function takeFrom(
  rows: Iterable<Row>,
  eventsOf: (row: Row) => readonly StoredEvent[],
  limit: number,
): readonly StoredEvent[] {
  const found: StoredEvent[] = [];
  let size = 0;
  for (const row of rows) {
    size += row[6].length;
    found.push(...eventsOf(row));
    if (found.length >= limit || (size >= maxPage && found.length > 0)) break;
  }
  return found.slice(0, limit);
}

/** The numbers of a row end with its id: first those of its events, then those of its effects. */
function toEvents([id, task, project, revision, at, effects, text]: Row): readonly StoredEvent[] {
  const events = readEvents(text);
  const before = id - effects - events.length;
  return events.map((event, i) => ({ position: before + 1 + i, task, project, revision, event, at }));
}

/** The events and effects of one decision. */
interface Happening {
  readonly position: number;
  /** The task's last row so far; 0 if there is none. */
  readonly last: number;
  readonly revision: number;
  readonly entry: number;
  readonly at: number;
  readonly events: readonly TaskEvent[];
  readonly effects: readonly Effect[];
}

/** Per row. Reading one event of a row means reading the whole row. */
const maxEvents = 64;

/** Writes history. All methods run inside the caller's transaction. */
export interface History {
  /** Returns the task's last row, which the caller must store. The numbers of its effects end with it. */
  add(happening: Happening): number;
  /** Appends events without changing the task. */
  append(task: string, events: readonly TaskEvent[], at: number): void;
  removeOfTask(id: string): void;
  removeOfProject(name: string): void;
}

export function createHistory(database: DatabaseSync): History {
  const insert = database.prepare(
    `insert into history (id, task, previous, revision, entry, at, states, events, effects)
     values (coalesce((select max(id) from history), 0) + ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const find = prepareReading<[position: number, last: number, revision: number]>(
    database,
    "select position, last, revision from task where id = ?",
  );
  const noteLast = database.prepare("update task set last = ? where position = ?");
  const lastRow = prepareReading<[number | null]>(database, "select max(id) from history");
  const remove = (tasks: string) =>
    database.prepare(
      `delete from history where id in (${chain(`select last from task where ${tasks} and last > 0`)} select id from chain)`,
    );
  const removeOfTask = remove("id = ?");
  const removeOfProject = remove("project = ?");
  const placeHolder = database.prepare(
    "insert or ignore into history (id, task, previous, revision, entry, at, states) values (?, 0, 0, 0, 0, 0, '')",
  );
  /** Numbers continue from the last row, so a deletion must leave a last row. */
  const keepCount = (run: () => void) => {
    const last = lastRow.get()?.[0] ?? null;
    run();
    if (last !== null) placeHolder.run(last);
  };

  const insertRow = ({ position, last, revision, entry, at, events, effects }: Happening) => {
    const count = events.length + effects.length;
    if (count === 0) return last;
    const states = "o".repeat(effects.length);
    const happened = events.length === 0 ? null : writeEvents(events);
    const owed = effects.length === 0 ? null : JSON.stringify(effects);
    return Number(insert.run(count, position, last, revision, entry, at, states, happened, owed).lastInsertRowid);
  };
  const add = (happening: Happening) => {
    let { last, events } = happening;
    for (; events.length > maxEvents; events = events.slice(maxEvents)) {
      last = insertRow({ ...happening, last, events: events.slice(0, maxEvents), effects: [] });
    }
    return insertRow({ ...happening, last, events });
  };
  return {
    add,
    append: (task, events, at) => {
      const home = { position: 0, last: 0, revision: 0, entry: 0, at, effects: [] };
      if (task === "") {
        for (const event of events) insertRow({ ...home, events: [event] });
        return;
      }
      const found = find.get(task);
      if (found === undefined) throw taskMissing(task);
      const [position, last, revision] = found;
      if (events.length === 0) return;
      noteLast.run(add({ position, last, revision, entry: 0, at, events, effects: [] }), position);
    },
    removeOfTask: (id) => keepCount(() => removeOfTask.run(id)),
    removeOfProject: (name) => keepCount(() => removeOfProject.run(name)),
  };
}
