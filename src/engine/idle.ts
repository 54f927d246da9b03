import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { startDraft, tellRun } from "./draft.ts";
import { endWait } from "./end-of-wait.ts";
import { stateOf } from "./enter.ts";
import { gateReasons } from "./gate.ts";
import { isPersonsTurn } from "./persons-turn.ts";
import { textForPerson } from "./prompt.ts";
import type { Facts, Request } from "./request.ts";
import { nameOf } from "./run-ended.ts";
import { specOf } from "./spec-of.ts";
import { hasProduced, hold } from "./take-rule.ts";
import type { Task } from "./task.ts";
import type { State, Workflow } from "./workflow.ts";

/** How often a quiet agent is told what is missing before a person is asked. */
const reminders = 2;

/** An interactive agent finished a turn. If it produced what the state waits for, that counts as much as its exit would. */
export function wentIdle(
  workflow: Workflow,
  task: Task,
  { run, isPatient = false }: Extract<Request, { kind: "idle" }>,
  facts: Facts,
): Decision {
  const name = nameOf(task, run);
  if (name === undefined) return { kind: "ignored", why: `The run ${run} is not live any more.` };
  if (!isAwaited(workflow, task, run)) return { kind: "ignored", why: "Nothing waits for this agent." };
  const state = stateOf(workflow, task.status);
  if (hasProduced(workflow, task, facts)) {
    return endWait(workflow, task, { word: "ok", reason: "", answer: undefined, again: "wait" }, facts);
  }
  if (isPatient) return { kind: "ignored", why: "It was told not long ago." };

  const { missing, command } = whatIsMissing(workflow, task, state, name, facts);
  if (task.wait.reminded >= reminders) {
    return hold(workflow, task, {
      word: "idle",
      reason: `${name} is quiet. ${missing || "It has not said what is next."}`,
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

/** Whether the task cannot go on before this run of it does something. */
export function isAwaited(workflow: Workflow, task: Task, run: string): boolean {
  const name = nameOf(task, run);
  const state = stateOf(workflow, task.status);
  const { wait, rules } = state;
  if (name === undefined || task.held !== undefined || task.phase === "doing") return false;
  // Where the next move is a person's, an idle agent is as it should be.
  return wait.kind === "agent"
    ? wait.run.role === name
    : wait.kind === "open" && rules.length > 0 && !isPersonsTurn(state);
}

/** What the agent still owes, empty where no evidence is missing, and the command to give, which only agents are told. */
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
