import { Refusal } from "../../api/error.ts";
import type { StoredTask } from "../../ports/store.ts";

/** Of a task that is over nothing can be brought back; its branch can be gone on with. */
export function mustBeOpen({ task, isOpen }: Pick<StoredTask, "task" | "isOpen">): void {
  if (isOpen) return;
  const text = `The task is in "${task.status}", which is the end.`;
  const fix = `Continue its branch in a new task: signalbox task create --from ${task.id}`;
  throw new Refusal([{ code: "terminal", text, fix }]);
}
