import { branchNameProblem } from "./branch-name.ts";
import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { rejected, standing } from "./move.ts";
import type { Actor } from "./request.ts";
import type { Task, TaskEdit } from "./task.ts";
import type { Workflow } from "./workflow.ts";

/** The prompts tell agents to give the branch a telling name and to sharpen the summary; the rest is a person's. */
const forAgents: readonly (keyof TaskEdit)[] = ["summary", "branch"];
/** Where it works, where it can be seen and where its pull request is, only the engine knows. */
const forEngine: readonly (keyof TaskEdit)[] = ["workspace", "prUrl", "tmuxSession"];

export function edit(workflow: Workflow, task: Task, actor: Actor, set: TaskEdit): Decision {
  // A workspace is given back when the task is over.
  const refusal =
    actor.role === "engine"
      ? undefined
      : standing({ ...stateOf(workflow, task.status), wait: { kind: "none" } }, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  const changed = Object.entries(set).filter(([key, value]) => !isSame(task[key as keyof TaskEdit], value));
  const isAgent = actor.role !== "human" && actor.role !== "engine";
  const foreign = changed.filter(([key]) => isAgent && !forAgents.includes(key as keyof TaskEdit));
  if (foreign.length > 0) {
    const text = `Only a person can change ${foreign.map(([key]) => key).join(", ")}.`;
    return rejected({ code: "only-human", text, fix: `You can change ${forAgents.join(" and ")}.` });
  }
  if (actor.role !== "engine" && changed.some(([key]) => forEngine.includes(key as keyof TaskEdit))) {
    const text = `Only the engine can change ${forEngine.join(" and ")}.`;
    return rejected({ code: "not-allowed", text, fix: "Nothing needs to be done." });
  }
  const problem = set.branch === undefined ? undefined : branchNameProblem(set.branch);
  if (problem !== undefined) return rejected({ code: "bad-value", text: problem, fix: "Choose another name." });
  if (changed.length === 0) return { kind: "ignored", why: "Nothing would change." };
  const event: TaskEvent = {
    type: "task.edited",
    by: actor.role,
    data: { changed: changed.map(([key]) => key) },
    set: Object.fromEntries(changed),
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, i) => each === b[i]);
  return a === b;
}
