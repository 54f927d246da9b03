import type { StoredTask } from "../ports/store.ts";

/** The newest that was heard of each open task: while one piece of news is looked at, the next can overtake it. */
export interface Newest {
  /** False where something newer is known already. */
  hear(stored: StoredTask): boolean;
  /** Whether nothing newer was heard since, and the task was not forgotten. */
  isLast(stored: StoredTask): boolean;
  /** Whether anything was heard of it since it was forgotten. */
  isKnown(task: string): boolean;
  forget(task: string): void;
}

export function createNewest(): Newest {
  const heard = new Map<string, number>();
  return {
    hear({ task, revision }) {
      if ((heard.get(task.id) ?? 0) > revision) return false;
      heard.set(task.id, revision);
      return true;
    },
    isLast: ({ task, revision }) => heard.get(task.id) === revision,
    isKnown: (task) => heard.has(task),
    forget: (task) => void heard.delete(task),
  };
}
