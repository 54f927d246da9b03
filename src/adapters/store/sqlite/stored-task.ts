import type { Task } from "../../../engine/task.ts";
import type { StoredTask } from "../../../ports/store.ts";

/** Reads a row of the table `task`. */
export function toStoredTask(row: Record<string, unknown>): StoredTask {
  return {
    task: JSON.parse(String(row.data)) as Task,
    revision: Number(row.revision),
    isOpen: row.is_open === 1,
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    order: Number(row.position),
  };
}
