import { isJsonObject } from "../json.ts";
import { sha256 } from "../sha256.ts";
import { answerProblem } from "./check-answer.ts";
import { apply, type Decision, type Reason, type TaskEvent } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { type Item, readItems } from "./fan-out.ts";
import { rejected, standing } from "./move.ts";
import type { Request } from "./request.ts";
import type { Task } from "./task.ts";
import type { FanOut, Workflow } from "./workflow.ts";

/** The plan of a task: the answer from which a fan-out takes its items. Undefined where nobody has planned yet. */
export function plannedResult(workflow: Workflow, task: Task): Planned | undefined {
  const found = Object.values(workflow.states).flatMap(({ name, wait }) => {
    const result = wait.kind === "fan_out" ? task.results[wait.from.result] : undefined;
    return wait.kind === "fan_out" && isJsonObject(result) ? [{ state: name, fanOut: wait, result }] : [];
  });
  // Of several, the one that is still to come.
  return found.find(({ state }) => isAhead(workflow, task.status, state)) ?? found[0];
}

interface Planned {
  /** The state in which its children start. */
  readonly state: string;
  readonly fanOut: FanOut;
  readonly result: Readonly<Record<string, unknown>>;
}

/** The items of a task's plan, as they are shown to a person; none where nobody has planned yet. */
export function plannedItems(workflow: Workflow, task: Task): readonly Item[] {
  const planned = plannedResult(workflow, task);
  const read = planned === undefined ? undefined : readItems(planned.result[planned.fanOut.from.field]);
  return read?.ok ? read.items : [];
}

/** Identifies what a person was shown as the plan of a task: another plan has another one. Empty where there is no plan. */
export function planFingerprint(items: readonly Item[]): string {
  if (items.length === 0) return "";
  const shown = items.map(({ id, title, description, needs, files, size }) => [
    ...[id, title, description, needs, files, size],
  ]);
  return sha256(JSON.stringify(shown)).slice(0, 16);
}

/** Why a request about a plan is outdated: the person was shown another one. */
export function otherPlan(workflow: Workflow, task: Task, shown: string | undefined): Reason | undefined {
  if (shown === undefined || planFingerprint(plannedItems(workflow, task)) === shown) return undefined;
  const text = "The plan has changed since you were shown it.";
  return { code: "moved-on", text, fix: `See it as it is now: signalbox task plan ${task.id}` };
}

/** Why a person cannot change the plan now; undefined where they can: the task waits for them, and no child has started. */
export function whyFixed(workflow: Workflow, task: Task): Reason | undefined {
  const state = stateOf(workflow, task.status);
  const plan = plannedResult(workflow, task);
  const look = `To see what it waits for: signalbox task explain ${task.id}`;
  if (plan === undefined) return { code: "not-waiting", text: "The task has no plan yet.", fix: look };
  if (!isAhead(workflow, task.status, plan.state))
    return { code: "moved-on", text: "The work on the plan has begun; it cannot be changed any more.", fix: look };
  if (state.wait.kind === "human" && !task.wait.skipped && task.phase === "waiting") return undefined;
  const text = `In "${state.name}" the plan cannot be changed: the task does not wait for you.`;
  return { code: "not-waiting", text, fix: look };
}

/** A person changes the plan. It is checked like the answer of the agent that made it. */
export function editPlan(
  workflow: Workflow,
  task: Task,
  { actor, items, replaces }: Extract<Request, { kind: "plan" }>,
): Decision {
  const state = stateOf(workflow, task.status);
  const refusal = standing({ ...state, wait: { kind: "none" } }, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  if (actor.role !== "human") {
    const text = "Only a person can change the plan.";
    return rejected({ code: "only-human", text, fix: "Say in your answer what should be planned otherwise." });
  }
  const plan = plannedResult(workflow, task);
  const fixed = whyFixed(workflow, task);
  if (fixed !== undefined || plan === undefined)
    return rejected(fixed ?? { code: "not-waiting", text: "The task has no plan yet.", fix: "" });
  const other = otherPlan(workflow, task, replaces);
  if (other !== undefined) return rejected(other);
  const { result, field } = plan.fanOut.from;
  const answer = { ...plan.result, [field]: items };
  const problem = answerProblem(workflow, { result }, answer, "person");
  if (problem !== undefined)
    return rejected({ code: "bad-value", text: inItemWords(problem, field), fix: "Correct the plan." });
  const event: TaskEvent = {
    type: "plan.edited",
    by: "human",
    data: { items: Array.isArray(items) ? items.length : 0 },
    set: { results: { ...task.results, [result]: answer } },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

/** `subtasks[0].title is missing` becomes `title of item 1 is missing`: the person writes a plain list. */
function inItemWords(problem: string, field: string): string {
  const words = problem.split(" ").map((word) => {
    const [, place, rest = ""] = word.startsWith(`${field}[`)
      ? (/^\[(\d+)\]\.?(\S*)$/.exec(word.slice(field.length)) ?? [])
      : [];
    if (word === field) return "The plan";
    if (place === undefined) return word;
    return rest === "" ? `Item ${Number(place) + 1}` : `${rest} of item ${Number(place) + 1}`;
  });
  return words.join(" ");
}

/** Whether a task can still come from one state to another. */
function isAhead({ ways }: Workflow, from: string, to: string): boolean {
  const reached = new Set([from]);
  // A set is walked in the order of its growth, to its new end.
  for (const state of reached) for (const way of ways) if (way.from === state) reached.add(way.to);
  return from !== to && reached.has(to);
}
