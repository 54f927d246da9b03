import type { DatabaseSync } from "node:sqlite";
import type { Kept, Run } from "../../../ports/records.ts";
import type { Collection, Store } from "../../../ports/store.ts";
import { projectMissing, taskMissing } from "../faults.ts";
import { isLive } from "./migrations.ts";
import type { Read, Write } from "./writer.ts";

type Collections = Pick<
  Store,
  | "agents"
  | "workspaces"
  | "runs"
  | "credentials"
  | "findings"
  | "messages"
  | "conversations"
  | "usage"
  | "merges"
  | "pullRequests"
  | "calls"
  | "liveRuns"
>;

/** What is kept beside tasks: a table for every kind, and the same statements for all. */
export function createCollections(database: DatabaseSync, read: Read, write: Write): Collections {
  const of = <T extends Kept>(table: string): Collection<T> => createCollection(database, table, read, write);
  const live = database.prepare(`select data from run indexed by live_run where ${isLive} order by at, position`);
  return {
    liveRuns: () => read(() => live.all().map((row) => JSON.parse(String(row.data)) as Run)),
    agents: of("agent"),
    workspaces: of("workspace"),
    runs: of("run"),
    credentials: of("credential"),
    findings: of("finding"),
    messages: of("message"),
    conversations: of("conversation"),
    usage: of("usage"),
    merges: of("merge"),
    pullRequests: of("pull_request"),
    calls: of("person_call"),
  };
}

function createCollection<T extends Kept>(
  database: DatabaseSync,
  table: string,
  read: Read,
  write: Write,
): Collection<T> {
  const hasProject = database.prepare("select 1 from project where name = ?");
  const hasTask = database.prepare("select 1 from task where id = ?");
  const upsert = database.prepare(
    `insert into ${table} (id, project, task, at, data) values (?, ?, ?, ?, ?) on conflict (id) do update
     set project = excluded.project, task = excluded.task, at = excluded.at, data = excluded.data`,
  );
  const select = database.prepare(`select data from ${table} where id = ?`);
  const remove = database.prepare(`delete from ${table} where id = ?`);
  const list = (from: string) => database.prepare(`select data from ${table} ${from} order by at, position`);
  const lists = {
    all: list(""),
    project: list(`indexed by ${table}_by_project where project = ?`),
    task: list(`indexed by ${table}_by_task where task is ?`),
    both: list(`indexed by ${table}_by_task where task is ? and project = ?`),
  };
  const toRecord = (row: Record<string, unknown>) => JSON.parse(String(row.data)) as T;
  const orNull = (task: string) => (task === "" ? null : task);

  return {
    put: (record) =>
      write(() => {
        const { id, project, task, at } = record;
        if (hasProject.get(project) === undefined) throw projectMissing(project);
        if (task !== "" && hasTask.get(task) === undefined) throw taskMissing(task);
        upsert.run(id, project, orNull(task), at, JSON.stringify(record));
      }),
    get: (id) =>
      read(() => {
        const row = select.get(id);
        return row === undefined ? undefined : toRecord(row);
      }),
    list: ({ project, task }) =>
      read(() => {
        if (task === undefined)
          return (project === undefined ? lists.all.all() : lists.project.all(project)).map(toRecord);
        const owner = orNull(task);
        return (project === undefined ? lists.task.all(owner) : lists.both.all(owner, project)).map(toRecord);
      }),
    remove: (id) => write(() => void remove.run(id)),
  };
}
