import { planProblem } from "./check-answer.ts";
import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { endRun, startDraft, tellRun } from "./draft.ts";
import { addEffects, stateOf } from "./enter.ts";
import { gateReasons } from "./gate.ts";
import { isPersonsTurn } from "./persons-turn.ts";
import { textForPerson } from "./prompt.ts";
import type { Facts, Request, Unsettled } from "./request.ts";
import { isAwaited, nameOf } from "./run-ended.ts";
import { specOf } from "./run-spec.ts";
import { after, endWait, endWork, hasProduced, hold } from "./take-rule.ts";
import type { Held, Task } from "./task.ts";
import type { State, Workflow } from "./workflow.ts";

/** How often an idle agent is told what is missing before the task is held for a person. */
export const maxReminders = 2;

/** An interactive agent finished a turn. If it produced what the state waits for, that counts like its exit. */
export function wentIdle(
  workflow: Workflow,
  task: Task,
  { run, isPatient = false }: Extract<Request, { kind: "idle" }>,
  facts: Facts,
): Decision {
  const name = nameOf(task, run);
  if (name === undefined) return { kind: "ignored", why: `The run ${run} is not live any more.` };
  if (!isRunAwaited(workflow, task, run)) return { kind: "ignored", why: "Nothing waits for this agent." };
  const state = stateOf(workflow, task.status);
  if (hasProduced(workflow, task, facts) || task.runs[name]?.report !== undefined) {
    return endWait(workflow, task, { word: "ok", reason: "", answer: undefined, again: "wait" }, facts);
  }
  if (isPatient) return { kind: "ignored", why: "It got a message a short time ago." };

  const { missing, command } = whatIsMissing(workflow, task, state, name, facts);
  if (task.wait.reminded >= maxReminders) {
    return hold(workflow, task, {
      word: "idle",
      reason: `${name} is quiet. ${missing || "It has not said what comes next."}`,
      answer: undefined,
      again: "wait",
    });
  }
  const draft = startDraft(workflow, task, task.status);
  const message = missing === "" ? `Say what is next: ${command}` : `${missing} To ask: ${command}`;
  tellRun(draft, specOf(workflow, state, name), { prompt: "", message });
  const event: TaskEvent = {
    type: "agent.reminded",
    by: "engine",
    data: { role: name, message: textForPerson(workflow, task, message) },
    set: { wait: { ...task.wait, reminded: task.wait.reminded + 1 } },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}

/** Whether the task waits for this run to do something. */
export function isRunAwaited(workflow: Workflow, task: Task, run: string): boolean {
  const name = nameOf(task, run);
  const state = stateOf(workflow, task.status);
  const { wait, rules } = state;
  if (name === undefined || task.held !== undefined || task.phase === "doing") return false;
  // Where it is a person's turn, an agent may be idle.
  return wait.kind === "agent"
    ? wait.run.role === name
    : wait.kind === "open" && rules.length > 0 && !isPersonsTurn(state);
}

/**
 * The evidence that the agent has not written yet, empty where none is missing, and the command for its next request.
 */
function whatIsMissing(workflow: Workflow, task: Task, state: State, role: string, facts: Facts) {
  const asks = Object.entries(state.out).flatMap(([to, ways]) =>
    ways
      .filter((way) => way.gates.length > 0 && (way.by === undefined || way.by.includes(role)))
      .map((way) => ({ to, way })),
  );
  const [first] = asks;
  const commandFor = (targets: readonly string[]) => `{cli} task update --status ${targets.join(" | ")}`;
  if (first === undefined) return { missing: "", command: commandFor(Object.keys(state.out)) };
  const reason = gateReasons(first.way, workflow, task, facts)[0];
  const missing = reason === undefined ? "The task has not moved on." : `${reason.text} ${reason.fix}`;
  return { missing, command: commandFor([...new Set(asks.map(({ to }) => to))]) };
}

type Limit = Extract<Request, { kind: "limit" }>;

/** A limit on time or cost was reached. The state's rules handle a state's limit; a person handles the task's limit. */
export function reachedLimit(workflow: Workflow, task: Task, request: Limit, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  if (state.terminal) return { kind: "ignored", why: "The task is over." };
  if (request.entry === undefined) return holdTask(workflow, task, request.word, reasonFor(request.word));
  if (request.entry !== task.entry) return { kind: "ignored", why: "The task has moved on." };
  // A held task waits for a person without a limit; for an entering task the limit is checked again later.
  if (task.held !== undefined || task.phase === "entering")
    return { kind: "ignored", why: "The state's wait has not begun, or the task is held." };
  const reason = `The limit on ${request.word} of "${state.name}" is reached.`;
  if (task.phase === "doing") return endWork(workflow, task, request.word, reason, facts);

  const draft = startDraft(workflow, task, task.status);
  for (const name of Object.keys(task.runs)) if (isAwaited(state, task, name)) endRun(draft, name);
  const stops = state.wait.kind === "fan_out" && !task.wait.childrenOver;
  if (stops) draft.effects.push({ action: "stop_children", params: {} });
  const ended: TaskEvent = {
    type: "agent.ended",
    by: "engine",
    data: { word: request.word },
    set: {
      runs: draft.runs,
      sessions: draft.sessions,
      reason,
      ...(stops ? { wait: { ...task.wait, childrenOver: true } } : {}),
    },
  };
  const ending = { word: request.word, reason, answer: undefined, again: "wait" as const };
  const decision = endWait(workflow, apply(task, ended), ending, facts);
  if (decision.kind === "ignored" || decision.kind === "rejected") return decision;
  return after(ended, { ...decision, effects: [...draft.effects, ...decision.effects] });
}

/** The word of a task that is held because its ticket was closed elsewhere. */
export const ticketWord = "ticket";

/** The task's ticket was closed elsewhere: its agents end, and a person decides what becomes of it. */
export function lostTicket(workflow: Workflow, task: Task, reason: string): Decision {
  const state = stateOf(workflow, task.status);
  if (state.terminal || task.phase === "over") return { kind: "ignored", why: "The task is over." };
  if (task.held !== undefined) return { kind: "ignored", why: "The task is held already." };
  const { kind } = state.wait;
  const isAsked = task.phase !== "doing" && (kind === "human" || kind === "slot" || kind === "time");
  if (!isAsked) return holdTask(workflow, task, ticketWord, reason);
  // To continue it must not be the answer that the state waits for.
  return hold(workflow, task, { word: ticketWord, reason, answer: undefined, again: "effects" });
}

function holdTask(workflow: Workflow, task: Task, word: string, reason: string): Decision {
  const state = stateOf(workflow, task.status);
  const draft = startDraft(workflow, task, task.status);
  addEffects(draft, state, [{ name: "kill_session", params: {}, run: undefined }]);
  const ended: TaskEvent = {
    type: "agent.ended",
    by: "engine",
    data: { word },
    set: { runs: draft.runs, sessions: draft.sessions, reason },
  };
  const again = task.phase === "doing" ? "do" : "wait";
  const held = hold(workflow, apply(task, ended), { word, reason, answer: undefined, again });
  if (held.kind !== "stayed") return held;
  return after(ended, { ...held, effects: draft.effects });
}

/** Whether this event held the task because a limit on its whole life was reached. */
export function tellsOfLife({ type, data }: TaskEvent, word: Limit["word"]): boolean {
  return type === "task.held" && data.reason === reasonFor(word);
}

function reasonFor(word: string): string {
  return `The limit on ${word} of the task is reached.`;
}

/** Every effect of the move is done: failures of the previous state are forgotten, and a state without a wait ends. */
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
  const problem = wait.kind === "fan_out" ? planProblem(wait, task.results[wait.from.result]) : undefined;
  if (problem !== undefined)
    return after(
      event,
      endWait(workflow, next, { word: "invalid", reason: problem, answer: undefined, again: "wait" }, facts),
    );
  return { kind: "stayed", task: next, events: [event], effects: [] };
}

/** An effect failed and is not retried: the task is held in its state for a person. */
export function unsettled(workflow: Workflow, task: Task, request: Unsettled): Decision {
  const { entry, action, reason, ends = false } = request;
  if (entry !== task.entry) return { kind: "ignored", why: "The task has moved on." };
  const held: Held = { reason: `${failureOf(action)}${reason}`, word: "error", again: "effects" };
  const draft = startDraft(workflow, task, task.status);
  if (ends) addEffects(draft, stateOf(workflow, task.status), [{ name: "kill_session", params: {}, run: undefined }]);
  const event: TaskEvent = {
    type: "effect.failed",
    by: "engine",
    data: { action, reason },
    set: { held, reason: held.reason, ...(ends ? { runs: draft.runs, sessions: draft.sessions } : {}) },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}

/** Whether the task is held because this action failed. */
export function isHeldFor({ held }: Pick<Task, "held">, action: string): boolean {
  return held?.again === "effects" && held.reason.startsWith(failureOf(action));
}

function failureOf(action: string): string {
  return `${action} failed: `;
}

/** The action that the task is held for has succeeded since: the task continues without a person. */
export function mended(task: Task, entry: number, action: string): Decision {
  if (entry !== task.entry || !isHeldFor(task, action)) return { kind: "ignored", why: "The task is not held for it." };
  const event: TaskEvent = {
    type: "task.continued",
    by: "engine",
    data: { held: task.held?.word ?? "" },
    set: { held: undefined, reason: "" },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}
