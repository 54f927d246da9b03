import type { Kept, Workspace } from "../ports/records.ts";
import type { Collection, Project, Store, StoredDocument, StoredTask } from "../ports/store.ts";
import type { Roster } from "./agents/roster.ts";
import { StoreCache } from "./store-cache.ts";
import type { TaskIndex } from "./task-index.ts";

interface StoreListeners {
  /** The history has grown. */
  wrote(): void;
  /** A record was written that can make this task need a person. Changes of the task itself are reported elsewhere. */
  noticed(task: string): void;
  /** Hears of every task that is written or removed. */
  readonly tasks?: Pick<TaskIndex, "wrote" | "doubt" | "doubtAll">;
  /** Hears of every named agent whose record is written or removed; undefined until it is there. */
  roster?(): Pick<Roster, "heard" | "forgetProject"> | undefined;
}

/** Thirty agents keep thirty tasks busy; the others are read when they are needed. */
const maxTasks = 200;
const maxWorkspaceLists = 200;
const maxRecords = 2_000;

/**
 * The store as the daemon uses it. It adds two things: a write-through cache of projects, of the most recently used
 * tasks and documents, and of lists of workspaces; and notifications of the event feed and the needs after each write.
 * The daemon is the only writer of its store, so every write goes through here. While a key is being written it is read
 * from the store below: a reader who has already seen the effects of a decision there must not get the task from before
 * it.
 */
export function createDaemonStore(store: Store, { wrote, noticed, roster, tasks: index }: StoreListeners): Store {
  const projects = new StoreCache<Project>();
  const tasks = new StoreCache<StoredTask>(maxTasks);
  const documents = new StoreCache<StoredDocument>(maxTasks);
  const workspaces = new StoreCache<readonly Workspace[]>(maxWorkspaceLists);
  const workSizes = cached(store.workSizes);

  /** Writes, then reports that the history has grown. */
  const reporting = async <Result>(write: Promise<Result>): Promise<Result> => {
    const result = await write;
    wrote();
    return result;
  };
  /** Writes tasks, then reports them. A write that failed may still have been carried out. */
  const indexing = async <Result extends StoredTask | readonly StoredTask[]>(
    ids: readonly string[],
    write: Promise<Result>,
  ): Promise<Result> => {
    const result = await write.catch((error) => {
      for (const id of ids) index?.doubt(id);
      throw error;
    });
    for (const stored of [result].flat() as readonly StoredTask[]) index?.wrote(stored);
    return result;
  };
  const noticing = <T extends Kept>(collection: Collection<T>): Collection<T> => ({
    ...collection,
    async put(record) {
      await collection.put(record);
      noticed(record.task);
    },
  });

  return {
    ...store,
    getProject: (name) => projects.read(name, () => store.getProject(name)),
    updateProject: (name, change) => projects.write(name, () => store.updateProject(name, change)),
    async removeProject(name) {
      await workspaces.writeAll(() =>
        projects.write(name, () => tasks.writeAll(() => documents.writeAll(() => store.removeProject(name)))),
      );
      workSizes.forgetAll();
      index?.doubtAll();
      roster?.()?.forgetProject(name);
    },

    getTask: (id) => tasks.read(id, () => store.getTask(id)),
    findTask: async (reference, project) => tasks.get(reference) ?? store.findTask(reference, project),
    async createTask(project, decide) {
      const stored = await reporting(store.createTask(project, decide));
      // The document may have been requested before it existed.
      documents.forget(stored.task.id);
      index?.wrote(stored);
      return stored;
    },
    saveDecision(decision) {
      const { document } = decision;
      const { id } = decision.task;
      const save = () =>
        tasks.write(
          id,
          () => indexing([id], reporting(store.saveDecision(decision))),
          (stored) => stored,
        );
      return document === undefined ? save() : documents.write(id, save, () => document);
    },
    saveDecisions: (decisions) =>
      tasks.writeAll(() =>
        documents.writeAll(() =>
          indexing(
            decisions.map(({ task }) => task.id),
            reporting(store.saveDecisions(decisions)),
          ),
        ),
      ),
    async deleteTask(id) {
      try {
        await workspaces.writeAll(() => tasks.write(id, () => documents.write(id, () => store.deleteTask(id))));
      } finally {
        workSizes.forgetAll();
        index?.doubt(id);
      }
    },

    getDocument: (task) => documents.read(task, () => store.getDocument(task)),
    saveDocument: (task, document, events, at) =>
      documents.write(
        task,
        () => reporting(store.saveDocument(task, document, events, at)),
        () => document,
      ),

    async addEvents(...events) {
      await reporting(store.addEvents(...events));
      const [, , , merge] = events;
      if (merge !== undefined) noticed(merge.task);
    },
    finishEffect: (...effect) => reporting(store.finishEffect(...effect)),

    agents: {
      ...store.agents,
      async put(agent) {
        await store.agents.put(agent);
        roster?.()?.heard(agent.id, agent);
      },
      async remove(id) {
        await store.agents.remove(id);
        roster?.()?.heard(id, undefined);
      },
    },
    runs: noticing(store.runs),
    messages: noticing(store.messages),
    merges: noticing(store.merges),
    workSizes: workSizes.collection,
    workspaces: {
      ...store.workspaces,
      put: (record) => workspaces.writeAll(() => store.workspaces.put(record)),
      remove: (id) => workspaces.writeAll(() => store.workspaces.remove(id)),
      list: (filter) =>
        // Names contain no line breaks.
        workspaces.read(`${filter.project ?? "*"}\n${filter.task ?? "*"}`, () => store.workspaces.list(filter)),
    },
  };
}

/** Records that are read for every row of a list, with a cache of each, and of each that is missing. */
function cached<T extends Kept>(collection: Collection<T>): { collection: Collection<T>; forgetAll(): void } {
  const records = new StoreCache<{ readonly record: T | undefined }>(maxRecords);
  return {
    collection: {
      ...collection,
      get: async (id) => (await records.read(id, async () => ({ record: await collection.get(id) }))).record,
      put: (record) =>
        records.write(
          record.id,
          () => collection.put(record),
          () => ({ record }),
        ),
      remove: (id) => records.write(id, () => collection.remove(id)),
    },
    forgetAll: () => records.forgetAll(),
  };
}
