import type { Store, StoredDocument, StoredTask } from "../ports/store.ts";
import { createMemory } from "./memory-of-tasks.ts";

/**
 * The same store, which knows the tasks it saw last without asking the disk. Everything that changes them goes through
 * here, because there is one daemon for a store; what was refused is forgotten, and read anew.
 */
export function rememberTasks(store: Store): Store {
  const tasks = createMemory<StoredTask>();
  const documents = createMemory<StoredDocument>();
  const forget = (task: string) => {
    tasks.forget(task);
    documents.forget(task);
  };
  const forgetAll = () => {
    tasks.forgetAll();
    documents.forgetAll();
  };
  return {
    ...store,
    getTask: (id) => tasks.read(id, () => store.getTask(id)),
    async findTask(reference, project) {
      return tasks.known(reference) ?? store.findTask(reference, project);
    },
    getDocument: (task) => documents.read(task, () => store.getDocument(task)),
    async createTask(project, decide) {
      const stored = await store.createTask(project, decide);
      // Somebody may have asked for its document before there was one.
      forget(stored.task.id);
      tasks.know(stored.task.id, stored);
      return stored;
    },
    saveDecision(decision) {
      const { document } = decision;
      const { id } = decision.task;
      const save = () => store.saveDecision(decision);
      return tasks.write(
        id,
        document === undefined ? save : () => documents.write(id, save, () => document),
        (stored) => stored,
      );
    },
    saveDocument: (task, document, events, at) =>
      documents.write(
        task,
        () => store.saveDocument(task, document, events, at),
        () => document,
      ),
    async deleteTask(id) {
      forget(id);
      await store.deleteTask(id);
      forget(id);
    },
    async removeProject(name) {
      forgetAll();
      await store.removeProject(name);
      forgetAll();
    },
  };
}
