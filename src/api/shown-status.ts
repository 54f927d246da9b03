import type { TaskView } from "./tasks.ts";

/** A task's state as lists show it. One whose merge was undone is not called done: its work is not in the branch any more. */
export function shownStatus({ status, undone }: Pick<TaskView, "status" | "undone">): string {
  return undone ? "undone" : status;
}
