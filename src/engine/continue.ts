import { apply, type Decision, type Reason, type TaskEvent } from "./decision.ts";
import { startDraft, startRun } from "./draft.ts";
import { endWait, startWork } from "./end-of-wait.ts";
import { progressAtStart, restarted, stateOf } from "./enter.ts";
import { gateReasons } from "./gate.ts";
import { guardReasons, rejected, standing, targetsFor } from "./move.ts";
import type { Actor, Facts } from "./request.ts";
import { startWait } from "./start-wait.ts";
import { after } from "./take-rule.ts";
import type { Task } from "./task.ts";
import { isTemporary } from "./words.ts";
import type { State, Workflow } from "./workflow.ts";

/** The wait is over; of a held task: what did not succeed is started again. */
export function decideContinue(workflow: Workflow, task: Task, actor: Actor, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const refusal =
    (owesItsEnd(state, task, actor) ? undefined : standing(state, task, actor)) ?? mayContinue(state, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  // A person stands on this way round: what bounded the machine is open again.
  const visits = actor.role === "human" ? restarted(state) : task.visits;
  const continued: TaskEvent = {
    type: "task.continued",
    by: actor.role,
    data: { held: task.held?.word ?? "" },
    set: {
      held: undefined,
      visits,
      attended: actor.role === "human" || task.attended,
      ...(task.held !== undefined && forgetsFailures(state, task.held.word) ? { crashCount: 0 } : {}),
    },
  };
  const next = apply(task, continued);
  if (task.held !== undefined) return startAgain(workflow, next, state, task.held.again, continued, facts);

  const decision = endWait(
    workflow,
    next,
    { word: "ok", reason: "", answer: undefined, again: "wait" },
    facts,
    actor.role,
  );
  const isRefused = decision.kind === "stayed" && decision.task.held !== undefined;
  if (!isRefused) return after(continued, decision);
  const reasons = closedReasons(workflow, next, state, facts);
  // A person is told what is missing. The scheduler holds the task for one, unless it only has to wait for a workspace.
  const isOnlyLate = reasons.some((reason) => reason.code === "pool-full");
  if (actor.role === "human" || isOnlyLate) return { kind: "rejected", reasons };
  return after(continued, decision);
}

/**
 * Whoever starts it again, failures stay failures in a row where the state looks at how many there were: else it would never
 * escalate. Where they only bound the tries, all of these are given anew. A look at what is temporary is no second failure.
 */
function forgetsFailures({ rules, out }: State, word: string): boolean {
  if (isTemporary(word)) return true;
  const guards = [
    ...rules.flatMap(({ when }) => when),
    ...Object.values(out).flatMap((ways) => ways.flatMap(({ when }) => when)),
  ];
  const escalates = rules.some(({ does }) => does.kind !== "then" && does.after !== undefined);
  return !escalates && !guards.some(({ source }) => source === "crash_count");
}

/** A task that has ended and still owes something of that: a person can have it tried again, or nothing ever would. */
function owesItsEnd(state: State, { held }: Task, { role }: Actor): boolean {
  return state.terminal && held?.again === "effects" && role === "human";
}

function mayContinue(state: State, task: Task, actor: Actor): Reason | undefined {
  if (task.phase === "doing") {
    return { code: "not-waiting", text: `The work of "${state.name}" is under way.`, fix: "Wait for it to end." };
  }
  if (actor.role !== "human" && actor.role !== "engine") {
    return {
      code: "only-human",
      text: "Only a person can continue a task.",
      fix: `Ask for a state: ${targetsFor(state, actor.role).join(", ") || "there is none for you"}.`,
    };
  }
  if (task.held !== undefined) {
    if (actor.role === "human" || isTemporary(task.held.word)) return undefined;
    return {
      code: "only-human",
      text: `The task is held for a person: ${task.held.reason}`,
      fix: "Wait for the person.",
    };
  }
  const { kind } = state.wait;
  if (kind === "slot" || kind === "time" || (kind === "human" && actor.role === "human")) return undefined;
  const targets = targetsFor(state, actor.role);
  const text = kind === "human" ? `"${state.name}" waits for a person.` : `"${state.name}" does not wait for you.`;
  return { code: "not-waiting", text, fix: targets.length > 0 ? `You can ask for ${targets.join(", ")}.` : "Wait." };
}

function startAgain(
  workflow: Workflow,
  task: Task,
  state: State,
  again: "wait" | "do" | "effects",
  continued: TaskEvent,
  facts: Facts,
): Decision {
  // The owed effects are in the store: the performer goes on with them once the task is not held any more.
  if (again === "effects") return { kind: "stayed", task, events: [continued], effects: [] };
  if (again === "do") return after(continued, startWork(workflow, task, state, continued.by));
  const { wait } = state;
  const ok = { word: "ok", reason: "", answer: undefined, again: "wait" as const };
  if (wait.kind === "none" || task.wait.skipped)
    return after(continued, endWait(workflow, task, ok, facts, continued.by));
  if (wait.kind === "human" || wait.kind === "slot" || wait.kind === "time")
    return after(continued, endWait(workflow, task, ok, facts, continued.by));
  if (wait.kind === "open" && state.respawn === undefined) {
    const targets = targetsFor(state, continued.by);
    const text = `"${state.name}" has no respawn_prompt, so no agent can be started again in it.`;
    return rejected({ code: "no-respawn", text, fix: targets.length > 0 ? `Ask for ${targets.join(", ")}.` : "" });
  }
  const draft = startDraft(workflow, task, task.status);
  if (wait.kind !== "open") startWait(draft, state);
  else if (state.respawn !== undefined && draft.runs[state.respawn.role] === undefined) startRun(draft, state.respawn);
  const event: TaskEvent = {
    ...continued,
    set: {
      ...continued.set,
      runs: draft.runs,
      sessions: draft.sessions,
      runCount: draft.runCount,
      wait: progressAtStart(draft, state, false),
    },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}

/** Why none of the ways that `continue` would take is open. */
function closedReasons(workflow: Workflow, task: Task, state: State, facts: Facts): readonly Reason[] {
  const reasons = state.rules.flatMap(({ does }) =>
    does.kind !== "then"
      ? []
      : (state.out[does.to] ?? []).flatMap((way) => [
          ...guardReasons(way, workflow, task, facts),
          ...gateReasons(way, workflow, task, facts),
        ]),
  );
  if (reasons.length > 0) return reasons;
  const targets = targetsFor(state, "human");
  return [
    {
      code: "no-transition",
      text: `No rule of "${state.name}" says where to go from here.`,
      fix: targets.length > 0 ? `Ask for ${targets.join(", ")}.` : "",
    },
  ];
}
