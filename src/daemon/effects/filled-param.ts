import { fillText } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { ParamValue, Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";

/** A text that a workflow gives to an action, with its variables filled in; empty where it gives none. */
export function filledParam(workflow: Workflow, task: Task, param: ParamValue | undefined): string {
  const filled = fillText(workflow, task, typeof param === "string" ? param : "", {});
  if (!filled.ok) throw new Fault("action.unfilled", `The text of the action is not complete. ${filled.problem}`);
  return filled.text.trim();
}
