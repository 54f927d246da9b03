import { firstStatement } from "../text.ts";
import { mergesOnWord, waysBack } from "./persons-turn.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

/** What a refusal of unreviewed work says; `heldAdvice` recognises it. */
export const notReviewed = "Nobody has reviewed the difference.";

/** What a person can do about a task that is held, a line each, and what is said about it. */
export function heldAdvice(
  workflow: Workflow | undefined,
  task: Task,
): { readonly text: string; readonly fix: string } {
  const { id, held } = task;
  const why = held?.reason ?? "";
  // The hint of a failed effect names the same command.
  const verb = held?.again === "effects" ? "retry" : "continue";
  if (workflow !== undefined && why.includes(notReviewed))
    return { text: firstStatement(why), fix: unreviewedAdvice(workflow, task).join("\n") };
  const again = `signalbox task ${verb} ${id}`;
  if (held?.word === "conflict" && held.again === "do")
    return {
      text: why,
      fix: `${whoResolves(workflow, task)}: signalbox task sync ${id}\nOnce it is resolved: ${again}`,
    };
  return { text: why, fix: `Fix the cause, then try again: ${again}` };
}

function whoResolves(workflow: Workflow | undefined, { status }: Task): string {
  const state = workflow?.states[status];
  const back = workflow === undefined || state === undefined ? [] : waysBack(workflow, state).toAgents;
  return back.length === 1 ? "Let its agent resolve it" : "See how to resolve it in the workspace";
}

/** What a person can do about work that has moved since its verdict, a line each. */
export function unreviewedAdvice(workflow: Workflow, task: Task): readonly string[] {
  const { id, status, held, phase } = task;
  const state = workflow.states[status];
  const back = state === undefined ? [] : waysBack(workflow, state).toAgents;
  // Work that is refused while it is under way holds the task.
  const isToBeHeld = held !== undefined || phase === "doing";
  const isWorkflows = mergesOnWord(workflow, isToBeHeld ? { ...task, held: held ?? pending } : task);
  const then = isWorkflows
    ? `Then let it be merged: signalbox task ${isToBeHeld ? "continue" : "approve"} ${id}`
    : `Then merge it without a review: signalbox task merge ${id} --unreviewed`;
  return [
    `See the difference: signalbox task diff ${id} --since-review`,
    then,
    ...back.map(
      (to) =>
        `Or let its agent hand it over again: signalbox task request-changes ${id}${back.length > 1 ? ` --status ${to}` : ""} -m "Hand over the newest commit."`,
    ),
  ];
}

const pending = { reason: "", word: "", again: "do" } as const;
