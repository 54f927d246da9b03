import { delayBefore } from "./backoff.ts";
import { apply, type Decision, type Effect, type TaskEvent } from "./decision.ts";
import { startDraft } from "./draft.ts";
import { stateOf } from "./enter.ts";
import { addEffects } from "./hooks.ts";
import type { Facts } from "./request.ts";
import { after, type Ending, takeRule } from "./take-rule.ts";
import type { Task } from "./task.ts";
import { isAccident } from "./words.ts";
import type { Limits, State, Workflow } from "./workflow.ts";

/** The wait is over. If it ended ok, the state's own work comes before the rules. */
export function endWait(workflow: Workflow, task: Task, ending: Ending, facts: Facts, by = "engine"): Decision {
  const state = stateOf(workflow, task.status);
  if (ending.word !== "ok" || state.do.length === 0) return takeRule(workflow, task, ending, facts, by);
  return startWork(workflow, task, state, by);
}

/** Begins, or begins again, the engine's own work in a state. */
export function startWork(workflow: Workflow, task: Task, state: State, by: string, delay = 0): Decision {
  const draft = startDraft(workflow, task, task.status);
  addEffects(draft, state, state.do);
  const effects = draft.effects.map((effect, i): Effect => (i === 0 && delay > 0 ? { ...effect, delay } : effect));
  const event: TaskEvent = {
    type: "task.working",
    by,
    data: { actions: effects.map((effect) => effect.action) },
    set: { phase: "doing", held: undefined, runs: draft.runs, sessions: draft.sessions, runCount: draft.runCount },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects };
}

/** The state's own work ended. An accident is tried again while attempts last. */
export function endWork(workflow: Workflow, task: Task, word: string, reason: string, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const answer = answerOf(state, task);
  if (!isAccident(word)) {
    const worked: TaskEvent = { type: "task.worked", by: "engine", data: { word, reason }, set: { reason } };
    return after(worked, takeRule(workflow, apply(task, worked), { word, reason, answer, again: "do" }, facts));
  }
  const count = task.crashCount + 1;
  const counted: TaskEvent = {
    type: "task.worked",
    by: "engine",
    data: { word, reason },
    set: { crashCount: count, reason },
  };
  const failed = apply(task, counted);
  if (count < attemptsOf(state.limits)) {
    return after(counted, startWork(workflow, failed, state, "engine", delayBefore(count, state.limits.backoff)));
  }
  return after(counted, takeRule(workflow, failed, { word, reason, answer, again: "do" }, facts));
}

export function attemptsOf(...limits: readonly Limits[]): number {
  return limits.find((each) => each.attempts !== undefined)?.attempts ?? 1;
}

/** The answer of the run a state waited for, as its rules see it. */
function answerOf(state: State, task: Task): unknown {
  const { wait } = state;
  const result = wait.kind === "agent" ? wait.run.result : wait.kind === "panel" ? wait.judge.result : undefined;
  return result === undefined || task.wait.skipped ? undefined : task.results[result];
}
