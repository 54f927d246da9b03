import type { Decision, Reason } from "./decision.ts";
import { enter, stateOf } from "./enter.ts";
import { gateReasons } from "./gate.ts";
import type { Actor, Facts } from "./request.ts";
import type { Task } from "./task.ts";
import { allHold, compare, fieldValue, holds, writeGuard, writeOpposite, writeValue } from "./when.ts";
import type { Guard, State, Way, Workflow } from "./workflow.ts";

/** Decides a request for a state. A rejected request changes nothing and lists everything that is missing. */
export function decideMove(
  workflow: Workflow,
  task: Task,
  to: string,
  actor: Actor,
  facts: Facts,
  reason = "",
): Decision {
  const state = stateOf(workflow, task.status);
  const refusal = standing(state, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  const ways = state.out[to];
  if (ways === undefined) return rejected(noWay(workflow, state, to, actor));
  let closed: readonly Way[] | undefined;
  for (const way of ways) {
    if (way.by !== undefined && !way.by.includes(actor.role)) continue;
    // At most one way between two states is open to a role: the loader refuses guards that can hold together.
    if (!allHold(way.when, workflow, task, facts)) {
      closed = closed === undefined ? [way] : [...closed, way];
      continue;
    }
    const missing = gateReasons(way, workflow, task, facts);
    if (missing.length > 0) return { kind: "rejected", reasons: forAsker(missing, task, actor) };
    return enter(workflow, task, way, actor.role, "asked", facts, reason);
  }
  const first = closed?.[0];
  if (closed === undefined || first === undefined) return rejected(notAllowed(state, task, to, ways, actor));
  const reasons = closed.flatMap((way) => guardReasons(way, workflow, task, facts));
  const missing = forAsker(gateReasons(first, workflow, task, facts), task, actor);
  return { kind: "rejected", reasons: [...reasons, ...missing] };
}

/** Agents know their task file. For a person the fix says how to write into it. */
function forAsker(reasons: readonly Reason[], { id }: Task, { role }: Actor): readonly Reason[] {
  if (role !== "human") return reasons;
  return reasons.map((reason) =>
    /^gate-(missing|empty|field|spent|verdict|stale)$/.test(reason.code)
      ? { ...reason, fix: `${reason.fix} To write it yourself: signalbox task edit ${id}` }
      : reason,
  );
}

/** Why the actor may not ask for anything in this task; undefined where it may. */
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
    const text = `This run of ${actor.role} is over; it can no longer ask for anything.`;
    return { code: "run-over", text, fix: "Stop here." };
  }
  if (state.wait.kind === "human" && !task.attended) {
    const text = `"${state.name}" waits for a person, and none has answered or attached yet.`;
    return { code: "needs-person", text, fix: "Wait for the person." };
  }
  return undefined;
}

/** Whether the actor is a live run of the task. */
function isLive(task: Task, actor: Actor): boolean {
  const own = task.runs[actor.role];
  if (own !== undefined && (actor.run === undefined || own.key === actor.run)) return true;
  for (const name in task.runs) {
    if (name.startsWith(`${actor.role}/`) && (actor.run === undefined || task.runs[name]?.key === actor.run))
      return true;
  }
  return false;
}

export function guardReasons(way: Pick<Way, "when">, workflow: Workflow, task: Task, facts: Facts): readonly Reason[] {
  return way.when
    .filter((guard) => !holds(guard, workflow, task, facts))
    .map((guard) => {
      const value = fieldValue(guard, workflow, task, facts);
      const plain = guard.source === "fact" ? factWords(guard, task, value) : undefined;
      if (plain !== undefined) return { code: "guard" as const, ...plain };
      return {
        code: "guard" as const,
        text: `Transition not allowed: ${writeOpposite(guard)} (${guard.field} is ${writeValue(guard, value)}).`,
        fix: `It needs ${writeGuard(guard)}. To see what is open: signalbox task explain ${task.id}`,
      };
    });
}

/**
 * Explains a failed guard on a fact without the language of workflow files; undefined where the guard itself must be
 * shown.
 */
function factWords(guard: Guard, { id, status }: Task, value: number): { text: string; fix: string } | undefined {
  const wantsSome = holdsFor(guard, 1) && !holdsFor(guard, 0);
  const wantsNone = holdsFor(guard, 0) && !holdsFor(guard, 1);
  if (!wantsSome && !wantsNone) return undefined;
  const look = `To see what is open: signalbox task explain ${id}`;
  switch (guard.field) {
    case "merged":
      return wantsSome
        ? { text: "The work is not merged yet.", fix: `Merge it: signalbox task merge ${id}` }
        : { text: "The work is already merged.", fix: look };
    case "dirty":
      return wantsSome
        ? { text: "The workspace has no uncommitted changes.", fix: look }
        : { text: "The workspace has uncommitted changes.", fix: "Commit them there, then ask again." };
    case "protected":
      return wantsSome
        ? { text: "The work does not change protected files, and contains no commits of other open tasks.", fix: look }
        : {
            text: "The work changes protected files, which decide how work is tested and merged, or contains commits of other open tasks.",
            fix: `See it: signalbox task diff ${id}`,
          };
    case "commits":
      return wantsSome
        ? { text: "The branch has no commit of its own yet.", fix: "Commit the work, then ask again." }
        : { text: `The branch has commits of its own (${value}).`, fix: look };
    case "new_commits":
      return wantsSome
        ? { text: `The branch has no new commit since the task entered "${status}".`, fix: "Commit the work." }
        : { text: `The branch has new commits since the task entered "${status}" (${value}).`, fix: look };
    case "documents":
      return wantsSome
        ? {
            text: `No document was handed over since the task entered "${status}".`,
            fix: "Hand it over with work_complete, in documents.",
          }
        : { text: `Documents were handed over since the task entered "${status}" (${value}).`, fix: look };
    case "approved_findings":
      return wantsSome
        ? { text: "No finding is approved.", fix: `Approve what is to be fixed: signalbox task findings ${id}` }
        : { text: `Findings are approved (${value}).`, fix: `See them: signalbox task findings ${id}` };
    case "open_findings":
      return wantsSome
        ? { text: "No finding is open.", fix: look }
        : { text: `Findings are open (${value}).`, fix: `See them: signalbox task findings ${id}` };
    case "workspace":
      return wantsSome
        ? { text: "The task has no workspace.", fix: look }
        : { text: "The task has a workspace.", fix: look };
    default:
      return undefined;
  }
}

function holdsFor({ op, value }: Guard, candidate: number): boolean {
  return typeof value === "number" && compare(op, candidate, value);
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

function notAllowed(state: State, { id, held }: Task, to: string, ways: readonly Way[], actor: Actor): Reason {
  const isNext = state.wait.kind === "human" && state.rules.some(({ does }) => does.kind === "then" && does.to === to);
  if (isNext && actor.role === "human") {
    const text = `The workflow itself moves the task from "${state.name}" to "${to}" once you approve.`;
    const yes = `Approve: signalbox task approve ${id}`;
    const again = `Fix the cause of the hold, then: signalbox task continue ${id}`;
    return { code: "not-allowed", text, fix: held === undefined ? yes : again };
  }
  const askers = [...new Set(ways.flatMap((way) => way.by ?? []))];
  const open = targetsFor(state, actor.role);
  const text = `Only ${askers.join(" or ")} can move the task from "${state.name}" to "${to}"; you are ${actor.role}.`;
  return { code: "not-allowed", text, fix: open.length > 0 ? `You can ask for ${open.join(", ")}.` : "Wait." };
}

/** The states that a role may ask for. */
export function targetsFor(state: State, role: string): readonly string[] {
  return Object.keys(state.out).filter((to) =>
    state.out[to]?.some((way) => way.by === undefined || way.by.includes(role)),
  );
}
