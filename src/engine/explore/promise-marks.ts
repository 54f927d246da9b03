import type { TaskEvent } from "../decision.ts";
import { changeOf, type Deed, deedOf, givenInPlace } from "../proofs.ts";
import type { Task } from "../task.ts";
import type { AuthorsPromise, Workflow } from "../workflow.ts";
import type { Step } from "./step.ts";
import { factsOf, type Taken, type World } from "./world.ts";

/**
 * What a step means for each promise of the workflow, a letter for each; empty where it means nothing for any of them. Steps
 * with different marks are different, even if they lead to the same position.
 *
 * after: `g` and `w` say that the evidence is given or withdrawn, `G` and `W` that the task also enters the state, `a` that it
 * only enters it. within: `e` counts a visit; a digit is the count after a person has acted. Other promises: `x` breaks it.
 */
export function marksOf(workflow: Workflow, before: World, step: Step, { events }: Taken): string {
  const { promises } = workflow;
  if (promises.length === 0) return "";
  const telling = events.filter(({ type }) => meaningful.has(type));
  if (telling.length === 0) return "";
  const facts = factsOf({ workspace: before.workspace, sections: step.sections ?? noSections }, step);
  let marks = "";
  const deed = deedOf(workflow, before.task, telling, facts);
  for (const promise of promises) marks += markOf(promise, deed);
  return /[^-]/.test(marks) ? marks : "";
}

const noSections: World["sections"] = {};

/** The events that can mean something for a promise. */
const meaningful: ReadonlySet<TaskEvent["type"]> = new Set<TaskEvent["type"]>([
  "task.moved",
  "task.worked",
  "task.continued",
  "agent.ended",
  "panel.answered",
  "dialogue.answered",
]);

function markOf(promise: AuthorsPromise, deed: Deed): string {
  const { move } = deed;
  switch (promise.kind) {
    case "after": {
      const change = changeOf(deed, promise.evidence);
      const enters = move?.data.to === promise.to;
      const mark = change === undefined ? "-" : change === "withdrawn" ? "w" : "g";
      return enters ? (mark === "-" ? "a" : mark.toUpperCase()) : mark;
    }
    case "never_by":
      return move?.data.to === promise.to && promise.roles.includes(move.by) ? "x" : "-";
    case "never_same_run_as":
      return givenInPlace(deed, promise) ? "x" : "-";
    case "within":
      return visitsMark(promise.of, deed.before, deed.events);
  }
}

/** Counted as `enter` and `restarted` count: a person's act starts again. */
function visitsMark(of: string, { status }: Task, events: readonly TaskEvent[]): string {
  const unknown = 100;
  let count = unknown;
  for (const { type, by, data } of events) {
    const isPerson = by === "human";
    if (type === "task.moved") count = (isPerson ? 0 : count) + (data.to === of ? 1 : 0);
    else if (isPerson && (type === "task.continued" || type === "dialogue.answered")) count = status === of ? 1 : 0;
  }
  return count === unknown ? "-" : count > unknown ? "e" : String(count);
}
