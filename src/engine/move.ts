import type { Decision, Reason } from "./decision.ts";
import { enter, stateOf } from "./enter.ts";
import { gateReasons } from "./gate.ts";
import type { Actor, Facts } from "./request.ts";
import type { Task } from "./task.ts";
import { allHold, fieldValue, holds, writeGuard, writeOpposite, writeValue } from "./when.ts";
import type { State, Way, Workflow } from "./workflow.ts";

/** Somebody asks for a state. A rejected request changes nothing and says everything that is missing at once. */
export function decideMove(workflow: Workflow, task: Task, to: string, actor: Actor, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const refusal = standing(state, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  const ways = state.out[to];
  if (ways === undefined) return rejected(noWay(workflow, state, to, actor));
  let closed: readonly Way[] | undefined;
  for (const way of ways) {
    if (way.by !== undefined && !way.by.includes(actor.role)) continue;
    // The loader made sure that the guards of one pair exclude each other for one asker.
    if (!allHold(way.when, workflow, task, facts)) {
      closed = closed === undefined ? [way] : [...closed, way];
      continue;
    }
    const missing = gateReasons(way, workflow, task, facts);
    if (missing.length > 0) return { kind: "rejected", reasons: missing };
    return enter(workflow, task, way, actor.role, "asked", facts);
  }
  const first = closed?.[0];
  if (closed === undefined || first === undefined) return rejected(notAllowed(state, to, ways, actor));
  const reasons = closed.flatMap((way) => guardReasons(way, workflow, task, facts));
  return { kind: "rejected", reasons: [...reasons, ...gateReasons(first, workflow, task, facts)] };
}

/** Whether somebody has a say in the task at all. */
export function standing(state: State, task: Task, actor: Actor): Reason | undefined {
  if (state.terminal) {
    const text = `The task is in "${state.name}", which is the end.`;
    return {
      code: "terminal",
      text,
      fix: `Continue its branch in a new task: signalbox task create --from ${task.id}`,
    };
  }
  if (actor.role === "human" || actor.role === "engine") return undefined;
  if (!isLive(task, actor)) {
    const text = `This run of ${actor.role} is over; it cannot ask for anything any more.`;
    return { code: "run-over", text, fix: "Stop here." };
  }
  if (state.wait.kind === "human" && !task.attended) {
    const text = `"${state.name}" waits for a person, and none has answered or attached yet.`;
    return { code: "needs-person", text, fix: "Wait for the person." };
  }
  return undefined;
}

/** Whether the asker is a run of the task that is alive now. */
function isLive(task: Task, actor: Actor): boolean {
  const own = task.runs[actor.role];
  if (own !== undefined && (actor.run === undefined || own.key === actor.run)) return true;
  for (const name in task.runs) {
    if (name.startsWith(`${actor.role}/`) && (actor.run === undefined || task.runs[name]?.key === actor.run))
      return true;
  }
  return false;
}

export function guardReasons(way: Way, workflow: Workflow, task: Task, facts: Facts): readonly Reason[] {
  return way.when
    .filter((guard) => !holds(guard, workflow, task, facts))
    .map((guard) => ({
      code: "guard" as const,
      text: `Transition not allowed: ${writeOpposite(guard)} (${guard.field} is ${writeValue(guard, fieldValue(guard, workflow, task, facts))}).`,
      fix: `It needs ${writeGuard(guard)}.`,
    }));
}

export function rejected(reason: Reason): Decision {
  return { kind: "rejected", reasons: [reason] };
}

function noWay(workflow: Workflow, state: State, to: string, actor: Actor): Reason {
  const open = targetsFor(state, actor.role);
  const fix =
    open.length > 0
      ? `From "${state.name}", ${actor.role} can ask for ${open.join(", ")}.`
      : `From "${state.name}", ${actor.role} cannot ask for any state.`;
  if (workflow.states[to] === undefined)
    return { code: "no-such-state", text: `The workflow "${workflow.name}" has no state "${to}".`, fix };
  return { code: "no-transition", text: `There is no transition from "${state.name}" to "${to}".`, fix };
}

function notAllowed(state: State, to: string, ways: readonly Way[], actor: Actor): Reason {
  const askers = [...new Set(ways.flatMap((way) => way.by ?? []))];
  const open = targetsFor(state, actor.role);
  const text = `Only ${askers.join(" or ")} can take the task from "${state.name}" to "${to}"; you are ${actor.role}.`;
  return { code: "not-allowed", text, fix: open.length > 0 ? `You can ask for ${open.join(", ")}.` : "Wait." };
}

/** The states somebody may ask for. */
export function targetsFor(state: State, role: string): readonly string[] {
  return Object.keys(state.out).filter((to) =>
    state.out[to]?.some((way) => way.by === undefined || way.by.includes(role)),
  );
}
