import { routes } from "../../../api/routes.ts";
import type { TaskView } from "../../../api/task-wires.ts";
import { askChange } from "../../ask-change.ts";
import type { Context } from "../../context.ts";

export function respawn(this: Context, { json }: { json: boolean }, ...references: readonly string[]) {
  const hint = ({ task }: { readonly task: Pick<TaskView, "id" | "runs"> }) =>
    task.runs.length > 0
      ? `To see its agent at work: signalbox task attach ${task.id}`
      : `Its workspace is made again. To see when that is done: signalbox task explain ${task.id}`;
  return askChange(this, routes.respawnTask, references, json, hint);
}
