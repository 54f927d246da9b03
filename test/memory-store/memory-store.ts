import { writeFile } from "node:fs/promises";
import {
  branchTaken,
  conflict,
  partKey,
  partTaken,
  projectExists,
  projectInUse,
  projectMissing,
  storeClosed,
  taskExists,
} from "../../src/adapters/sqlite/faults.ts";
import { isNewStay } from "../../src/adapters/sqlite/tasks.ts";
import type { Task } from "../../src/engine/task.ts";
import type { Kept, WebKey } from "../../src/ports/records.ts";
import type {
  Collection,
  Project,
  SavedDecision,
  Store,
  StoredArtifact,
  StoredDocument,
  StoredEvent,
  StoredTask,
} from "../../src/ports/store.ts";
import {
  createEffects,
  createLists,
  createTables,
  forget,
  isOpen as isOpenEffect,
  type KeptRow,
  type Kind,
  keep,
  keepOfHome,
  mustHaveTask,
  type ProjectRow,
  prepare,
  type Run,
  removeTasks,
  retryFailed,
  type Snapshot,
  snapshot,
  type Tables,
  type TaskRow,
  toStoredTask,
} from "./tables.ts";

/**
 * A store in memory, for tests and simulations. It follows the store's contract; it copies the data that it gets, and
 * returns immutable objects.
 */
export function createMemoryStore(): Store {
  const tables = createTables();
  let isClosed = false;
  const read: Run = async (run) => {
    if (isClosed) throw storeClosed();
    return run();
  };
  // As with a disk, nothing is saved when the call returns, so that callers who do not await the promise are noticed.
  const write: Run = async (run) => {
    await undefined;
    return read(run);
  };
  return {
    ...createProjects(tables, read, write),
    ...createWorkflows(tables, read, write),
    ...createTasks(tables, read, write),
    ...createLists(tables, read),
    ...createEvents(tables, read, write),
    ...createEffects(tables, read, write),
    ...createArtifacts(tables, read, write),
    ...createCollections(tables, read, write),
    ...createWebKeys(read, write),
    ...createUpkeep(tables, read),
    close: async () => {
      await undefined;
      isClosed = true;
    },
  };
}

/** The artifacts that passed a gate. */
export function createArtifacts(
  tables: Tables,
  read: Run,
  write: Run,
): Pick<Store, "addArtifact" | "listArtifacts" | "artifactText"> {
  const list = (task: string) =>
    (tables.tasks.get(task)?.artifacts ?? []).map((text) => JSON.parse(text) as StoredArtifact);
  return {
    addArtifact: (artifact) =>
      write(() => {
        mustHaveTask(tables, artifact.task).artifacts.push(JSON.stringify(artifact));
      }),
    listArtifacts: (task) => read(() => list(task)),
    artifactText: (task, wanted) => read(() => list(task).find(({ hash }) => hash === wanted)?.text),
  };
}

/** The records beside tasks: the same for every kind. */
export function createCollections(tables: Tables, read: Run, write: Run): Pick<Store, Kind | "liveRuns"> {
  const of = <T extends Kept>(kind: Kind): Collection<T> => createCollection(tables, kind, read, write);
  const runs: Store["runs"] = of("runs");
  return {
    runs,
    liveRuns: async () => (await runs.list({})).filter(({ endedAt }) => endedAt === undefined),
    agents: of("agents"),
    workspaces: of("workspaces"),
    credentials: of("credentials"),
    messages: of("messages"),
    conversations: of("conversations"),
    usage: of("usage"),
    merges: of("merges"),
    pullRequests: of("pullRequests"),
    calls: of("calls"),
    chatQuestions: of("chatQuestions"),
    seen: of("seen"),
    workSizes: of("workSizes"),
  };
}

function createCollection<T extends Kept>(tables: Tables, kind: Kind, read: Run, write: Run): Collection<T> {
  const records = tables.kept[kind];
  const toRecord = ({ data }: KeptRow) => data.read() as T;
  return {
    put: (record) => write(() => putRecord(tables, kind, record)),
    get: (id) =>
      read(() => {
        const row = records.get(id);
        return row && toRecord(row);
      }),
    list: ({ project, task }) =>
      read(() =>
        [...records.values()]
          .filter((row) => row.project === (project ?? row.project) && row.task === (task ?? row.task))
          .sort((one, other) => one.at - other.at)
          .map(toRecord),
      ),
    remove: (id) => write(() => void records.delete(id)),
  };
}

function putRecord(tables: Tables, kind: Kind, record: Kept): void {
  const { id, project, task, at } = record;
  if (!tables.projects.has(project)) throw projectMissing(project);
  if (task !== "") mustHaveTask(tables, task);
  tables.kept[kind].set(id, { project, task, at, data: snapshot(record) });
}

/** The links and sessions of browsers. */
function createWebKeys(read: Run, write: Run): Pick<Store, "webKeys"> {
  const keys = new Map<string, Snapshot<WebKey>>();
  return {
    webKeys: {
      put: (key) => write(() => void keys.set(key.id, snapshot(key))),
      list: () => read(() => [...keys.values()].map((each) => each.read())),
      take: (id) =>
        write(() => {
          const found = keys.get(id);
          keys.delete(id);
          return found?.read();
        }),
    },
  };
}

/** The history. */
export function createEvents(
  tables: Tables,
  read: Run,
  write: Run,
): Pick<Store, "addEvents" | "listEvents" | "listEventsBefore" | "lastEvent" | "lastNumber"> {
  return {
    addEvents: (id, events, at, merge) =>
      write(() => {
        if (id === "") return keepOfHome(tables, events, at);
        const task = mustHaveTask(tables, id);
        const prepared = prepare(tables, task, { revision: task.revision, at, events });
        // This checks the record before it changes anything.
        if (merge !== undefined) putRecord(tables, "merges", merge);
        keep(tables, task, prepared);
      }),
    listEvents: ({ task, project }, after, limit) =>
      read(() => {
        const { events } = tables;
        const found: StoredEvent[] = [];
        // Readers follow the end, so search from there.
        for (let i = events.findLastIndex((event) => event.position <= after) + 1; i < events.length; i++) {
          const event = events[i];
          if (event === undefined || found.length >= limit) break;
          const fits = event.task === (task ?? event.task) && event.project === (project ?? event.project);
          if (fits) found.push(event);
        }
        return found;
      }),
    listEventsBefore: ({ task, project }, before, limit) =>
      read(() =>
        tables.events
          .filter((event) => event.position < before)
          .filter((event) => event.task === (task ?? event.task) && event.project === (project ?? event.project))
          .toReversed()
          .slice(0, limit),
      ),
    lastEvent: () => read(() => tables.events.at(-1)?.position ?? 0),
    lastNumber: () => read(() => tables.last.number),
  };
}

type Projects = Pick<Store, "addProject" | "updateProject" | "removeProject" | "getProject" | "listProjects">;

export function createProjects(tables: Tables, read: Run, write: Run): Projects {
  const { projects } = tables;
  const must = (name: string) => {
    const row = projects.get(name);
    if (row === undefined) throw projectMissing(name);
    return row;
  };
  return {
    addProject: (project) =>
      write(() => {
        if (projects.has(project.name)) throw projectExists(project.name);
        projects.set(project.name, { data: snapshot(project), lastNumber: 0 });
      }),
    updateProject: (name, change) =>
      write(() => {
        const row = must(name);
        const project = { ...toProject(row), ...change };
        row.data = snapshot<Project>(project);
        return project;
      }),
    removeProject: (name) =>
      write(() => {
        must(name);
        const tasks = [...tables.tasks.values()].filter((task) => task.project === name);
        const open = tasks.filter((task) => task.isOpen).length;
        if (open > 0) throw projectInUse(name, open);
        removeTasks(tables, tasks);
        forget(tables, ({ project }) => project === name);
        projects.delete(name);
      }),
    getProject: (name) =>
      read(() => {
        const row = projects.get(name);
        return row && toProject(row);
      }),
    listProjects: () =>
      read(() => [...projects.values()].map(toProject).sort((one, other) => compareBytes(one.name, other.name))),
  };
}

function toProject({ data }: ProjectRow): Project {
  return data.read();
}

/** Compares like a database, which differs from JavaScript beyond U+FFFF. */
function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

type Tasks = Pick<
  Store,
  "createTask" | "saveDecision" | "saveDecisions" | "saveDocument" | "getDocument" | "deleteTask"
>;

export function createTasks(tables: Tables, read: Run, write: Run): Tasks {
  const { tasks, projects } = tables;
  const claimBranch = ({ id, branch }: Task, project: string) => {
    if (branch === "") return;
    for (const row of tasks.values()) {
      const isSame = row.isOpen && row.branch === branch && row.project === project && row.id !== id;
      if (isSame) throw branchTaken(branch, row.id);
    }
  };
  const claimPart = (task: Task) => {
    const key = partKey(task);
    if (key === null) return;
    for (const row of tasks.values())
      if (row.parent === task.parent && partKey(row.data.read() as Task) === key) throw partTaken(task, row.id);
  };

  const check = ({ task, revision }: SavedDecision) => {
    const row = mustHaveTask(tables, task.id);
    if (row.revision !== revision) throw conflict(task.id, revision, row.revision);
  };
  const save = (decision: SavedDecision): StoredTask => {
    check(decision);
    const {
      task,
      revision,
      isOpen,
      events,
      effects,
      at,
      document,
      artifacts = [],
      dropsOwed,
      retriesFailed,
    } = decision;
    const row = mustHaveTask(tables, task.id);
    const { branch, status, parent } = task;
    if (isOpen && (row.branch !== branch || !row.isOpen)) claimBranch(task, row.project);
    const happened = prepare(tables, row, { revision: revision + 1, entry: task.entry, at, events, effects });
    const evidence = artifacts.map((each) => [mustHaveTask(tables, each.task), JSON.stringify(each)] as const);
    const texts = {
      data: snapshot(task),
      document: document === undefined ? row.document : snapshot(document),
    };
    Object.assign(row, { branch, status, parent, isOpen, revision: revision + 1, updatedAt: at, ...texts });
    if (isNewStay(events)) row.enteredAt = at;
    if (dropsOwed) for (const effect of row.effects.filter(isOpenEffect)) effect.state = "dropped";
    if (retriesFailed) retryFailed(row, at);
    for (const [owner, text] of evidence) owner.artifacts.push(text);
    keep(tables, row, happened);
    return toStoredTask(row);
  };

  return {
    createTask: (project, decide) =>
      write(() => {
        const home = projects.get(project);
        if (home === undefined) throw projectMissing(project);
        const { task, document, events, effects, at } = decide(home.lastNumber + 1);
        if (tasks.has(task.id)) throw taskExists(task.id);
        claimPart(task);
        claimBranch(task, project);
        const { id, number, branch, status, parent } = task;
        const row: TaskRow = {
          ...{ id, project, number, branch, status, parent, isOpen: true, revision: 1, data: snapshot(task) },
          ...{ order: tables.last.task + 1, createdAt: at, updatedAt: at, enteredAt: at, effects: [], artifacts: [] },
          document: snapshot(document),
        };
        const happened = prepare(tables, row, { revision: 1, entry: task.entry, at, events, effects });
        home.lastNumber++;
        tables.last.task++;
        tasks.set(id, row);
        keep(tables, row, happened);
        return toStoredTask(row);
      }),
    saveDecision: (decision) => write(() => save(decision)),
    saveDecisions: (decisions) =>
      write(() => {
        for (const decision of decisions) check(decision);
        return decisions.map(save);
      }),
    saveDocument: (id, document, events, at) =>
      write(() => {
        const row = mustHaveTask(tables, id);
        const happened = prepare(tables, row, { revision: row.revision, at, events });
        row.document = snapshot(document);
        keep(tables, row, happened);
      }),
    getDocument: (id) =>
      read((): StoredDocument => {
        const row = tasks.get(id);
        return row === undefined ? { text: "", authors: {} } : row.document.read();
      }),
    deleteTask: (id) => write(() => removeTasks(tables, [mustHaveTask(tables, id)])),
  };
}

export function createUpkeep(tables: Tables, read: Run): Pick<Store, "check" | "backup"> {
  return {
    check: () => read(() => []),
    backup: async (path) => {
      const everything = await read(() => {
        const { projects, workflows, tasks, events } = tables;
        const effects = [...tables.effects.values()].map(({ task, ...effect }) => ({ ...effect, task: task.id }));
        const rows = [...tasks.values()].map(({ effects: _, ...task }) => task);
        const kept = Object.entries(tables.kept).map(([kind, records]) => [kind, [...records.values()]]);
        const maps = { projects: [...projects], workflows: [...workflows], kept };
        return JSON.stringify({ ...maps, tasks: rows, events, effects });
      });
      await writeFile(path, everything);
    },
  };
}

export function createWorkflows(
  { workflows }: Tables,
  read: Run,
  write: Run,
): Pick<Store, "saveWorkflow" | "getWorkflow"> {
  return {
    saveWorkflow: ({ hash, name, text }) =>
      write(() => {
        if (!workflows.has(hash)) workflows.set(hash, { name, text });
      }),
    getWorkflow: (hash) =>
      read(() => {
        const found = workflows.get(hash);
        return found && { hash, ...found };
      }),
  };
}
