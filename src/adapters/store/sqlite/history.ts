import type { DatabaseSync } from "node:sqlite";
import type { Effect, TaskEvent } from "../../../engine/decision.ts";
import { writeEvents } from "../event-text.ts";
import { taskMissing } from "../faults.ts";
import { chain } from "./chain.ts";
import { prepareReading } from "./reading.ts";

/** What happened to a task at once. */
interface Happening {
  readonly position: number;
  /** The task's last row so far; 0 where there is none. */
  readonly last: number;
  readonly revision: number;
  readonly entry: number;
  readonly at: number;
  readonly events: readonly TaskEvent[];
  readonly effects: readonly Effect[];
}

/** In one row. Whoever wants one event of a row has to read them all. */
const mostEvents = 64;

/** Writes history. Everything here belongs to the transaction of its caller. */
export interface History {
  /** Gives the task's last row, which the caller must note. The numbers of its effects end with it. */
  add(happening: Happening): number;
  /** Adds events to a task as it is. */
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
  /** Numbers count on from the last row, so there is always one to count on from. */
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
    for (; events.length > mostEvents; events = events.slice(mostEvents)) {
      last = insertRow({ ...happening, last, events: events.slice(0, mostEvents), effects: [] });
    }
    return insertRow({ ...happening, last, events });
  };
  return {
    add,
    append: (task, events, at) => {
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
