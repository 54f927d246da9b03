import type { Task } from "../../../engine/task.ts";
import type { StoredTask } from "../../../ports/store.ts";

export const taskColumns = "position, revision, is_open, created_at, updated_at, data";

export type TaskRow = [
  position: number,
  revision: number,
  isOpen: number,
  created: number,
  updated: number,
  data: string,
];

export function toStoredTask([order, revision, isOpen, createdAt, updatedAt, data]: TaskRow): StoredTask {
  return { task: JSON.parse(data) as Task, revision, isOpen: isOpen === 1, createdAt, updatedAt, order };
}
