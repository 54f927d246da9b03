import type { Store, StoredDocument, StoredTask } from "../ports/store.ts";
import { Remembered } from "./remembered.ts";

/** Thirty agents keep thirty tasks busy; the others are read when somebody asks for them. */
const mostTasks = 200;

/**
 * The same store, which knows the tasks it saw last without asking the disk. Everything that changes them goes through
 * here, because there is one daemon for a store. What is being written is asked of the disk: who has seen there what
 * follows from a decision must not be told how the task was before it.
 */
export function rememberTasks(store: Store): Store {
  const tasks = new Remembered<StoredTask>(mostTasks);
  const documents = new Remembered<StoredDocument>(mostTasks);
  return {
    ...store,
    getTask: (id) => tasks.read(id, () => store.getTask(id)),
    findTask: async (reference, project) => tasks.get(reference) ?? store.findTask(reference, project),
    getDocument: (task) => documents.read(task, () => store.getDocument(task)),
    async createTask(project, decide) {
      const stored = await store.createTask(project, decide);
      // Somebody may have asked for its document before there was one.
      documents.forget(stored.task.id);
      return stored;
    },
    saveDecision(decision) {
      const { document } = decision;
      const { id } = decision.task;
      const save = () =>
        tasks.write(
          id,
          () => store.saveDecision(decision),
          (stored) => stored,
        );
      return document === undefined ? save() : documents.write(id, save, () => document);
    },
    saveDocument: (task, document, events, at) =>
      documents.write(
        task,
        () => store.saveDocument(task, document, events, at),
        () => document,
      ),
    deleteTask: (id) => tasks.write(id, () => documents.write(id, () => store.deleteTask(id))),
    removeProject: (name) => tasks.writeAll(() => documents.writeAll(() => store.removeProject(name))),
  };
}
