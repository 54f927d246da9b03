import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { endRun, startDraft } from "./draft.ts";
import { endWait, endWork } from "./end-of-wait.ts";
import { stateOf } from "./enter.ts";
import { addEffects } from "./hooks.ts";
import type { Facts, Request } from "./request.ts";
import { isAwaited } from "./run-ended.ts";
import { after, hold } from "./take-rule.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

type Limit = Extract<Request, { kind: "limit" }>;

/** A limit on time or cost. That of a state asks the state's rules; that of the whole task asks a person. */
export function reachedLimit(workflow: Workflow, task: Task, request: Limit, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  if (state.terminal) return { kind: "ignored", why: "The task is over." };
  if (request.entry === undefined) return holdTask(workflow, task, request.word);
  if (request.entry !== task.entry) return { kind: "ignored", why: "The task has moved on." };
  // A held task waits for a person, however long that takes; one that is still entering is looked at again.
  if (task.held !== undefined || task.phase === "entering")
    return { kind: "ignored", why: "Nothing runs yet or any more." };
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

function holdTask(workflow: Workflow, task: Task, word: string): Decision {
  const state = stateOf(workflow, task.status);
  const draft = startDraft(workflow, task, task.status);
  addEffects(draft, state, [{ name: "kill_session", params: {}, run: undefined }]);
  const reason = reasonFor(word);
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

/** Whether this is where a task was held because a limit on its whole life was reached. */
export function tellsOfLife({ type, data }: TaskEvent, word: Limit["word"]): boolean {
  return type === "task.held" && data.reason === reasonFor(word);
}

function reasonFor(word: string): string {
  return `The limit on ${word} of the task is reached.`;
}
