import type { Store, StoredDocument, StoredTask } from "../ports/store.ts";

/** Thirty agents keep thirty tasks busy; the others are read when somebody asks for them. */
const mostTasks = 200;

/**
 * The same store, which knows the tasks it saw last without asking the disk. Everything that changes them goes through
 * here, because there is one daemon for a store; what was refused is forgotten, and read anew.
 */
export function rememberTasks(store: Store): Store {
  const tasks = new Map<string, StoredTask>();
  const documents = new Map<string, StoredDocument>();
  const forget = (task: string) => {
    tasks.delete(task);
    documents.delete(task);
  };
  /** How often each is being written just now. */
  const changing = new Map<string, number>();
  /**
   * What is being written is asked of the disk: who has seen there what follows from a decision must not be told how the
   * task was before it.
   */
  const change = async <T>(known: Map<string, unknown>, task: string, write: () => Promise<T>): Promise<T> => {
    known.delete(task);
    changing.set(task, (changing.get(task) ?? 0) + 1);
    try {
      return await write();
    } finally {
      const left = (changing.get(task) ?? 1) - 1;
      if (left > 0) changing.set(task, left);
      else changing.delete(task);
    }
  };
  const know = <T>(known: Map<string, T>, task: string, value: T) => {
    // The oldest of a Map comes first.
    const [oldest] = known.keys();
    if (known.size >= mostTasks && oldest !== undefined && !known.has(task)) known.delete(oldest);
    known.set(task, value);
  };
  return {
    ...store,
    async getTask(id) {
      const known = tasks.get(id);
      if (known !== undefined) return known;
      const found = await store.getTask(id);
      // Somebody may have changed it while we were reading.
      if (found !== undefined && !tasks.has(id) && !changing.has(id)) know(tasks, id, found);
      return found;
    },
    async findTask(reference, project) {
      return tasks.get(reference) ?? store.findTask(reference, project);
    },
    async getDocument(task) {
      const known = documents.get(task);
      if (known !== undefined) return known;
      const found = await store.getDocument(task);
      if (!documents.has(task) && !changing.has(task)) know(documents, task, found);
      return found;
    },
    async createTask(project, decide) {
      const stored = await store.createTask(project, decide);
      // Somebody may have asked for its document before there was one.
      forget(stored.task.id);
      know(tasks, stored.task.id, stored);
      return stored;
    },
    async saveDecision(decision) {
      const { id } = decision.task;
      if (decision.document !== undefined) documents.delete(id);
      const stored = await change(tasks, id, () => store.saveDecision(decision));
      if ((tasks.get(id)?.revision ?? 0) <= stored.revision) know(tasks, id, stored);
      if (decision.document !== undefined) know(documents, id, decision.document);
      return stored;
    },
    async saveDocument(task, document, events, at) {
      await change(documents, task, () => store.saveDocument(task, document, events, at));
      know(documents, task, document);
    },
    async deleteTask(id) {
      forget(id);
      await store.deleteTask(id);
    },
    async removeProject(name) {
      tasks.clear();
      documents.clear();
      await store.removeProject(name);
    },
  };
}
