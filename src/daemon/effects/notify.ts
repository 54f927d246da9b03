import { fillText, type OutsideValues } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Notifier } from "../../ports/notifier.ts";
import type { Perform } from "../perform.ts";

export interface NotifyPorts {
  readonly notifier: Notifier;
  /** The workflow a task is pinned to. */
  workflowOf(task: Task): Promise<Workflow>;
  /** What only the outside knows of the variables in a message. */
  outsideOf(task: Task): Promise<OutsideValues>;
}

/** Tells the person. The key of the note is the effect's, so that a note that is told again can be recognised. */
export function notify({ notifier, workflowOf, outsideOf }: NotifyPorts): Perform {
  return async ({ params }, { task, key }) => {
    const [workflow, outside] = await Promise.all([workflowOf(task), outsideOf(task)]);
    const filled = (text: unknown) => {
      const built = fillText(workflow, task, typeof text === "string" ? text : "", outside);
      if (!built.ok) throw new Fault("notify.unfilled", `The note has no text. ${built.problem}`);
      return built.text.trim();
    };
    await notifier.notify({
      title: filled(params.title) || `${task.project}#${task.number} ${task.summary}`.trim(),
      text: filled(params.message) || `Status: ${task.status}`,
      task: task.id,
      project: task.project,
      key,
    });
  };
}
