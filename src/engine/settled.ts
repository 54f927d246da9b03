import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { endWait } from "./end-of-wait.ts";
import { stateOf } from "./enter.ts";
import { readItems } from "./fan-out.ts";
import type { Facts } from "./request.ts";
import { after } from "./take-rule.ts";
import type { Held, Task } from "./task.ts";
import type { FanOut, Workflow } from "./workflow.ts";

/** Every effect of the move has been carried out: the failures of the state before are forgotten, and a state without a wait passes on. */
export function settled(workflow: Workflow, task: Task, entry: number, facts: Facts): Decision {
  if (entry !== task.entry) return { kind: "ignored", why: "The task has moved on." };
  if (task.phase !== "entering") return { kind: "ignored", why: "The task has settled already." };
  const state = stateOf(workflow, task.status);
  const event: TaskEvent = {
    type: "task.settled",
    by: "engine",
    data: {},
    set: {
      crashCount: task.wait.hasFailed ? task.crashCount : 0,
      phase: state.terminal ? "over" : "waiting",
      ...(task.held?.again === "effects" ? { held: undefined } : {}),
    },
  };
  const next = apply(task, event);
  const { wait } = state;
  const isPassing = !state.terminal && next.held === undefined && (wait.kind === "none" || task.wait.skipped);
  if (isPassing)
    return after(event, endWait(workflow, next, { word: "ok", reason: "", answer: undefined, again: "wait" }, facts));
  const problem = wait.kind === "fan_out" ? itemsProblem(task, wait) : undefined;
  if (problem !== undefined)
    return after(
      event,
      endWait(workflow, next, { word: "invalid", reason: problem, answer: undefined, again: "wait" }, facts),
    );
  return { kind: "stayed", task: next, events: [event], effects: [] };
}

/** An effect failed for good. The status stays; a person looks at it. */
export function unsettled(task: Task, entry: number, action: string, reason: string): Decision {
  if (entry !== task.entry) return { kind: "ignored", why: "The task has moved on." };
  const held: Held = { reason: `${action} failed: ${reason}`, word: "error", again: "effects" };
  const event: TaskEvent = {
    type: "effect.failed",
    by: "engine",
    data: { action, reason },
    set: { held, reason: held.reason },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

function itemsProblem(task: Task, fanOut: FanOut): string | undefined {
  const result = task.results[fanOut.from.result];
  const items =
    typeof result === "object" && result !== null ? (result as Record<string, unknown>)[fanOut.from.field] : undefined;
  const read = readItems(items);
  return read.ok ? undefined : read.problem;
}
