import type { DatabaseSync } from "node:sqlite";
import type { Kept, Run, WebKey } from "../../ports/records.ts";
import type { Collection, Project, Store, StoredArtifact } from "../../ports/store.ts";
import type { Read, Write } from "./connection.ts";
import { projectExists, projectInUse, projectMissing, taskMissing } from "./faults.ts";
import type { History } from "./history.ts";
import { isLive } from "./migrations.ts";

/** Evidence that passed a gate, and documents. `add` runs inside the caller's transaction. */
interface Artifacts extends Pick<Store, "addArtifact" | "listArtifacts" | "artifactText"> {
  add(artifact: StoredArtifact): void;
}

export function createArtifacts(database: DatabaseSync, read: Read, write: Write): Artifacts {
  const insert = database.prepare(
    `insert into artifact (task, section, text, hash, role, run, commit_id, at, type, state)
     select position, ?, ?, ?, ?, ?, ?, ?, ?, ? from task where id = ?`,
  );
  const byTask = database.prepare(
    "select * from artifact where task = (select position from task where id = ?) order by id",
  );
  const textByHash = database.prepare(
    "select text from artifact where task = (select position from task where id = ?) and hash = ? order by id limit 1",
  );
  const add = ({ task, section, text, hash, role, run, commit, at, document }: StoredArtifact) => {
    const { type = null, state = null } = document ?? {};
    const { changes } = insert.run(section, text, hash, role, run, commit, at, type, state, task);
    if (changes === 0) throw taskMissing(task);
  };
  return {
    add,
    addArtifact: (artifact) => write(() => add(artifact)),
    listArtifacts: (task) => read(() => byTask.all(task).map((row) => toArtifact(task, row))),
    artifactText: (task, hash) =>
      read(() => {
        const row = textByHash.get(task, hash);
        return row === undefined ? undefined : String(row.text);
      }),
  };
}

function toArtifact(task: string, row: Record<string, unknown>): StoredArtifact {
  const { section, text, hash, role, run, commit_id: commit, at, type, state } = row;
  return {
    task,
    section: String(section),
    text: String(text),
    hash: String(hash),
    role: String(role),
    run: String(run),
    commit: String(commit),
    at: Number(at),
    ...(type === null ? {} : { document: { type: String(type), state: String(state) } }),
  };
}

type Collections = Pick<
  Store,
  | "agents"
  | "workspaces"
  | "runs"
  | "credentials"
  | "messages"
  | "conversations"
  | "usage"
  | "merges"
  | "pullRequests"
  | "calls"
  | "chatQuestions"
  | "seen"
  | "workSizes"
  | "liveRuns"
>;

/** Records besides tasks: one table per kind, with the same statements for all. */
export function createCollections(database: DatabaseSync, read: Read, write: Write): Collections {
  const of = <T extends Kept>(table: string): Collection<T> => createCollection(database, table, read, write);
  const live = database.prepare(`select data from run indexed by live_run where ${isLive} order by at, position`);
  return {
    liveRuns: () => read(() => live.all().map((row) => JSON.parse(String(row.data)) as Run)),
    agents: of("agent"),
    workspaces: of("workspace"),
    runs: of("run"),
    credentials: of("credential"),
    messages: of("message"),
    conversations: of("conversation"),
    usage: of("usage"),
    merges: of("merge"),
    pullRequests: of("pull_request"),
    calls: of("person_call"),
    chatQuestions: of("chat_question"),
    seen: of("seen"),
    workSizes: of("work_size"),
  };
}

/** Puts a record of a kind, inside the caller's transaction. */
export function createPut<T extends Kept>(database: DatabaseSync, table: string): (record: T) => void {
  const hasProject = database.prepare("select 1 from project where name = ?");
  const hasTask = database.prepare("select 1 from task where id = ?");
  const upsert = database.prepare(
    `insert into ${table} (id, project, task, at, data) values (?, ?, ?, ?, ?) on conflict (id) do update
     set project = excluded.project, task = excluded.task, at = excluded.at, data = excluded.data`,
  );
  return (record) => {
    const { id, project, task, at } = record;
    if (hasProject.get(project) === undefined) throw projectMissing(project);
    if (task !== "" && hasTask.get(task) === undefined) throw taskMissing(task);
    upsert.run(id, project, orNull(task), at, JSON.stringify(record));
  };
}

function orNull(task: string): string | null {
  return task === "" ? null : task;
}

function createCollection<T extends Kept>(
  database: DatabaseSync,
  table: string,
  read: Read,
  write: Write,
): Collection<T> {
  const put = createPut<T>(database, table);
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

  return {
    put: (record) => write(() => put(record)),
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

export function createWebKeys(database: DatabaseSync, read: Read, write: Write): Pick<Store, "webKeys"> {
  const upsert = database.prepare(
    "insert into web_key (id, data) values (?, ?) on conflict (id) do update set data = excluded.data",
  );
  const selectAll = database.prepare("select data from web_key order by position");
  const remove = database.prepare("delete from web_key where id = ? returning data");
  const toKey = (row: Record<string, unknown>) => JSON.parse(String(row.data)) as WebKey;
  return {
    webKeys: {
      put: (key) => write(() => void upsert.run(key.id, JSON.stringify(key))),
      list: () => read(() => selectAll.all().map(toKey)),
      take: (id) =>
        write(() => {
          const row = remove.get(id);
          return row && toKey(row);
        }),
    },
  };
}

type Projects = Pick<Store, "addProject" | "updateProject" | "removeProject" | "getProject" | "listProjects">;

export function createProjects(database: DatabaseSync, read: Read, write: Write, history: History): Projects {
  const insert = database.prepare(
    "insert into project (name, data, last_number) values (?, ?, 0) on conflict do nothing",
  );
  const update = database.prepare("update project set data = ? where name = ?");
  const remove = database.prepare("delete from project where name = ?");
  const select = database.prepare("select data from project where name = ?");
  const selectAll = database.prepare("select data from project order by name");
  const countOpen = database.prepare(
    "select count(*) as open from task indexed by open_task where project = ? and is_open = 1",
  );
  const removeTasks = database.prepare("delete from task where project = ?");
  const must = (name: string) => {
    const row = select.get(name);
    if (row === undefined) throw projectMissing(name);
    return toProject(row);
  };

  return {
    addProject: (project) =>
      write(() => {
        if (insert.run(project.name, JSON.stringify(project)).changes === 0) throw projectExists(project.name);
      }),
    updateProject: (name, change) =>
      write(() => {
        const project = { ...must(name), ...change };
        update.run(JSON.stringify(project), name);
        return project;
      }),
    removeProject: (name) =>
      write(() => {
        must(name);
        const open = Number(countOpen.get(name)?.open);
        if (open > 0) throw projectInUse(name, open);
        history.removeOfProject(name);
        removeTasks.run(name);
        remove.run(name);
      }),
    getProject: (name) =>
      read(() => {
        const row = select.get(name);
        return row === undefined ? undefined : toProject(row);
      }),
    listProjects: () => read(() => selectAll.all().map(toProject)),
  };
}

function toProject(row: Record<string, unknown>): Project {
  return JSON.parse(String(row.data)) as Project;
}

export function createWorkflows(
  database: DatabaseSync,
  read: Read,
  write: Write,
): Pick<Store, "saveWorkflow" | "getWorkflow"> {
  const insert = database.prepare("insert into workflow (hash, name, text) values (?, ?, ?) on conflict do nothing");
  const select = database.prepare("select name, text from workflow where hash = ?");
  return {
    saveWorkflow: ({ hash, name, text }) => write(() => void insert.run(hash, name, text)),
    getWorkflow: (hash) =>
      read(() => {
        const row = select.get(hash);
        return row === undefined ? undefined : { hash, name: String(row.name), text: String(row.text) };
      }),
  };
}
