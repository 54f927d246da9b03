import { Refusal } from "../api/client.ts";
import { endState } from "../engine/persons-turn.ts";
import type { Request } from "../engine/request.ts";
import type { Task } from "../engine/task.ts";
import type { Workflow } from "../engine/workflow.ts";
import { Fault } from "../fault.ts";
import type { StoredTask } from "../ports/store.ts";
import type { Core } from "./core.ts";
import { haltTask } from "./halt-task.ts";
import type { Answer } from "./submit.ts";

/** A person cancels a task. */
export async function cancelByPerson(core: Core, { task }: StoredTask): Promise<Answer> {
  const to = cancelledState(await core.workflows.get(task.workflowHash), task.status);
  return submitAsked(core, task, { kind: "move", to, actor: { role: "human" } });
}

/** Submits a request. If a person cancels with it, the task's programs are ended before any facts are gathered. */
export async function submitAsked(core: Core, task: Task, asked: Request, document?: string): Promise<Answer> {
  const { id, workflowHash, status } = task;
  if (!cancels(await core.workflows.get(workflowHash), status, asked)) return core.submit(id, asked, document);
  return haltTask(core, id, () => core.submit(id, asked, document, "brake"));
}

/** Whether a person cancels the task, which is a brake. */
function cancels({ states }: Workflow, status: string, request: Request): boolean {
  if (request.kind !== "move" || request.actor.role !== "human") return false;
  return states[request.to]?.outcome === "cancelled" && states[status]?.out[request.to] !== undefined;
}

/** The terminal state with the outcome cancelled. */
export function cancelledState(workflow: Workflow, status: string): string {
  const end = endState(workflow, status, "cancelled");
  if (end !== undefined) return end;
  throw new Refusal([
    {
      code: "no-such-state",
      text: `The workflow "${workflow.name}" has no terminal state with the outcome cancelled.`,
      fix: `It has ${Object.keys(workflow.states).join(", ")}.`,
    },
  ]);
}

export function withoutWorkflow({ task }: StoredTask, error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  const text = `The agents and commands of ${task.id} were ended. The task cannot be cancelled yet: ${error.message}`;
  return new Fault(error.code, text, { hint: error.hint ?? "", cause: error });
}
