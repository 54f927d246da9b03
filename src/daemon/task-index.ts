import { setImmediate as turn } from "node:timers/promises";
import type { Store, StoredTask } from "../ports/store.ts";

/** What lists search and sort by, for every task. */
export interface IndexedTask {
  readonly id: string;
  readonly project: string;
  readonly parent: string;
  readonly status: string;
  readonly labels: readonly string[];
  readonly priority: number;
  readonly updatedAt: number;
  readonly order: number;
  readonly revision: number;
  /** Everything that a search looks in, in lower case. */
  readonly text: string;
  /** The task itself; undefined if it is closed: those are many. */
  readonly open: StoredTask | undefined;
}

/**
 * A write-through cache of every task, in the few fields that lists search and sort by. It is read from the store when it is first
 * asked for, and not at all in a home where nobody searches.
 */
export interface TaskIndex {
  /** All tasks, the newest first. */
  all(): Promise<Iterable<IndexedTask>>;
  /** Whether all tasks have been read. */
  isReady(): boolean;
  /** How many closed tasks a project has. */
  closed(): Promise<ReadonlyMap<string, number>>;
  /** A task was written. */
  wrote(stored: StoredTask): void;
  /** A task may have been written, or was deleted. */
  doubt(id: string): void;
  /** As `doubt`, of every task. */
  doubtAll(): void;
}

const pageSize = 500;

export function createTaskIndex(store: Pick<Store, "listTasks" | "getTask">): TaskIndex {
  let known: Map<string, IndexedTask> | undefined;
  let closed = new Map<string, number>();
  /** The ids by age; undefined after a task was added or deleted. */
  let inOrder: readonly IndexedTask[] | undefined;
  let loading: Promise<Map<string, IndexedTask>> | undefined;
  let isOutdated = false;
  /** What was written while all is being read. */
  const written = new Map<string, StoredTask>();
  /** Tasks to be read again before the next answer. */
  const doubted = new Set<string>();

  const count = (task: IndexedTask | undefined, by: 1 | -1) => {
    if (task !== undefined && task.open === undefined) closed.set(task.project, (closed.get(task.project) ?? 0) + by);
  };
  const put = (into: Map<string, IndexedTask>, stored: StoredTask) => {
    const before = into.get(stored.task.id);
    if (before !== undefined && before.revision > stored.revision) return;
    count(before, -1);
    const entry = indexed(stored);
    into.set(entry.id, entry);
    inOrder = undefined;
    count(entry, 1);
  };
  const load = async (): Promise<Map<string, IndexedTask>> => {
    const found = new Map<string, IndexedTask>();
    closed = new Map();
    isOutdated = false;
    for (let before: number | undefined; ; ) {
      const page = await store.listTasks({}, before === undefined ? { limit: pageSize } : { before, limit: pageSize });
      for (const stored of page) put(found, stored);
      before = page.at(-1)?.order;
      if (page.length < pageSize || before === undefined) break;
      // Reading a long list must not block other work.
      await turn();
    }
    if (isOutdated) return load();
    for (const stored of written.values()) put(found, stored);
    known = found;
    return found;
  };
  const ready = async () => {
    loading ??= load().finally(() => {
      written.clear();
      // The next caller tries again.
      loading = known === undefined ? undefined : loading;
    });
    const all = await loading;
    for (const id of [...doubted]) {
      const stored = await store.getTask(id);
      if (!doubted.delete(id)) continue;
      count(all.get(id), -1);
      all.delete(id);
      inOrder = undefined;
      if (stored !== undefined) put(all, stored);
    }
    return all;
  };

  return {
    async all() {
      const all = await ready();
      inOrder ??= [...all.values()].sort((one, other) => other.order - one.order);
      return inOrder;
    },
    isReady: () => known !== undefined,
    async closed() {
      await ready();
      return closed;
    },
    wrote(stored) {
      if (known !== undefined) put(known, stored);
      else if (loading !== undefined) written.set(stored.task.id, stored);
    },
    doubt(id) {
      if (loading !== undefined) doubted.add(id);
    },
    doubtAll() {
      isOutdated = true;
      if (known === undefined) return;
      loading = undefined;
      known = undefined;
      doubted.clear();
    },
  };
}

function indexed(stored: StoredTask): IndexedTask {
  const { task, order, updatedAt, revision, isOpen } = stored;
  const { id, project, number, parent, status, branch, summary, labels, priority } = task;
  const name = `${project}#${number}`;
  return {
    ...{ id, project, parent, status, labels, priority, updatedAt, order, revision },
    text: [name, id, branch, summary, ...labels, status].join("\n").toLowerCase(),
    open: isOpen ? stored : undefined,
  };
}
