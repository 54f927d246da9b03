/** Something about each task, as it was read or written last. */
export interface Memory<T> {
  known(task: string): T | undefined;
  know(task: string, value: T): void;
  /** What is known, or what is read. */
  read<Found extends T | undefined>(task: string, read: () => Promise<Found>): Promise<Found | T>;
  /** What is written is known once it is written; what is refused is not. */
  write<Result>(task: string, write: () => Promise<Result>, toKnow: (result: Result) => T): Promise<Result>;
  forget(task: string): void;
  forgetAll(): void;
}

/** Thirty agents keep thirty tasks busy; the others are read when somebody asks for them. */
const mostTasks = 200;

/**
 * What is written can be on the disk for a while before we hear of it. Whoever has seen the effects that came with it
 * must not get the task as it was before them: from the beginning of a write to its end everything is read.
 */
export function createMemory<T>(): Memory<T> {
  const values = new Map<string, T>();
  const underWay = new Map<string, number>();
  /** Of all tasks, for those who read: whatever was changed meanwhile, they may have read what was before. */
  let changes = 0;
  const forget = (task: string) => {
    changes++;
    values.delete(task);
  };
  const know = (task: string, value: T) => {
    if (underWay.has(task)) return;
    // The oldest of a Map comes first.
    const [oldest] = values.keys();
    if (values.size >= mostTasks && oldest !== undefined && !values.has(task)) values.delete(oldest);
    values.set(task, value);
  };
  return {
    known: (task) => values.get(task),
    know,
    async read(task, read) {
      const before = values.get(task);
      if (before !== undefined) return before;
      const at = changes;
      const found = await read();
      if (found !== undefined && changes === at) know(task, found);
      return found;
    },
    async write(task, write, toKnow) {
      forget(task);
      underWay.set(task, (underWay.get(task) ?? 0) + 1);
      let result: Awaited<ReturnType<typeof write>>;
      try {
        result = await write();
      } finally {
        const others = (underWay.get(task) ?? 1) - 1;
        if (others === 0) underWay.delete(task);
        else underWay.set(task, others);
      }
      know(task, toKnow(result));
      return result;
    },
    forget,
    forgetAll() {
      changes++;
      values.clear();
    },
  };
}
