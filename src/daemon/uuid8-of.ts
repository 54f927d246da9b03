import { hash } from "node:crypto";
import type { Task } from "../engine/task.ts";

/** `{uuid8}`: the same for the whole task, in its branch and in every prompt. */
export function uuid8Of({ id }: Pick<Task, "id">): string {
  return hash("sha256", id).slice(0, 8);
}
