import type { Facts } from "./request.ts";
import type { Task } from "./task.ts";
import { covers, holds } from "./when.ts";
import type { State, Workflow } from "./workflow.ts";

/**
 * The states that the task goes through next if all goes well, as its settings choose them. Rules that depend on anything but
 * settings are passed over where another one is left.
 */
export function nextStages(workflow: Workflow, task: Task): readonly string[] {
  const found: string[] = [];
  for (let at = task.status; ; ) {
    const state = workflow.states[at];
    const next = state === undefined ? undefined : usualNext(workflow, task, state);
    if (next === undefined || next === task.status || found.includes(next)) return found;
    found.push(next);
    at = next;
  }
}

/** Guards on settings read no fact. */
const noFacts = { numbers: {} } as Facts;

function usualNext(workflow: Workflow, task: Task, { rules }: State): string | undefined {
  const ways = rules.flatMap(({ on, when, does }) =>
    does.kind === "then" && covers(on, "ok") ? [{ when, to: does.to }] : [],
  );
  const usual = ways.find(({ when }) =>
    when.every((guard) => guard.source === "setting" && holds(guard, workflow, task, noFacts)),
  );
  return (usual ?? ways[0])?.to;
}
