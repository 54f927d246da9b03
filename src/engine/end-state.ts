import type { Outcome, Workflow } from "./workflow.ts";

/** The state in which a task ends so, in whatever words its workflow says that: one that a way leads to, else the first. */
export function endState(workflow: Workflow, status: string, outcome: Outcome): string | undefined {
  const ends = Object.values(workflow.states).filter((state) => state.outcome === outcome);
  const end = ends.find(({ name }) => workflow.states[status]?.out[name] !== undefined) ?? ends[0];
  return end?.name;
}
