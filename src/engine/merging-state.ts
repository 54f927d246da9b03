import { targetsFor } from "./move.ts";
import type { Workflow } from "./workflow.ts";

/**
 * Where a person can put a task so that its workflow itself merges it; undefined where no such way leads from here, or one
 * leads straight to where it is done.
 */
export function mergingState(workflow: Workflow, status: string): string | undefined {
  const state = workflow.states[status];
  if (state === undefined || state.terminal) return undefined;
  const targets = targetsFor(state, "human").flatMap((name) => workflow.states[name] ?? []);
  if (targets.some(({ outcome }) => outcome === "done")) return undefined;
  return targets.find((each) => each.do.some(({ name }) => name === "merge"))?.name;
}
