import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { startDraft, startRun } from "./draft.ts";
import { endWait } from "./end-of-wait.ts";
import { restarted, stateOf } from "./enter.ts";
import type { Facts } from "./request.ts";
import { after, matches } from "./take-rule.ts";
import type { LogEntry, Task } from "./task.ts";
import { resolve } from "./when.ts";
import type { RunSpec, Workflow } from "./workflow.ts";

/** The agent's turn in a dialogue ended with a valid answer: the person is asked, or asked to confirm. */
export function afterTurn(workflow: Workflow, task: Task, spec: RunSpec, answer: unknown, facts: Facts): Decision {
  const isReady = matches(spec.until ?? {}, answer);
  const said: LogEntry = { from: "agent", text: textOf(answer) };
  const turn = isReady ? (spec.confirm ? "confirm" : undefined) : "reply";
  const asked: TaskEvent = {
    type: "dialogue.asked",
    by: spec.role,
    data: { message: said.text, confirm: turn === "confirm" },
    set: { log: [...task.log, said], wait: { ...task.wait, turn } },
  };
  const next = apply(task, asked);
  if (turn !== undefined) return { kind: "stayed", task: next, events: [asked], effects: [] };
  return after(asked, endWait(workflow, next, { word: "ok", reason: "", answer, again: "wait" }, facts));
}

/** The person's turn. A whole-message yes confirms; anything else is feedback, and the agent goes on. */
export function afterReply(
  workflow: Workflow,
  task: Task,
  spec: RunSpec,
  text: string,
  limit: number,
  facts: Facts,
): Decision {
  const log: readonly LogEntry[] = [...task.log, { from: "human", text }];
  const isConfirmed = task.wait.turn === "confirm" && isYes(text);
  const round = task.wait.round + 1;
  const isOver = isConfirmed || round >= limit;
  const draft = startDraft(workflow, task, task.status);
  if (!isOver) startRun(draft, spec);
  const answered: TaskEvent = {
    type: "dialogue.answered",
    by: "human",
    data: { text, round, confirmed: isConfirmed },
    set: {
      log,
      attended: true,
      wait: { ...task.wait, round, turn: isOver ? undefined : "agent" },
      runs: draft.runs,
      runCount: draft.runCount,
      visits: restarted(stateOf(workflow, task.status)),
    },
  };
  const next = apply(task, answered);
  if (!isOver) return { kind: "stayed", task: next, events: [answered], effects: draft.effects };
  const answer = spec.result === undefined ? undefined : task.results[spec.result];
  const reason = isConfirmed ? "" : `The ${limit} rounds are used up; the task goes on with what was said.`;
  return after(
    answered,
    endWait(workflow, next, { word: isConfirmed ? "ok" : "rounds", reason, answer, again: "wait" }, facts),
  );
}

export function roundLimit(workflow: Workflow, task: Task, spec: RunSpec): number {
  const limits = workflow.states[task.status]?.limits;
  return resolve(limits?.rounds ?? spec.limits.rounds ?? Number.POSITIVE_INFINITY, workflow, task);
}

function isYes(text: string): boolean {
  return /^\s*(y|yes|yep|yeah|ok|okay|sure|confirm|confirmed|lgtm|go ahead|proceed)[\s.!]*$/i.test(text);
}

function textOf(answer: unknown): string {
  const message =
    typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>).message : undefined;
  return typeof message === "string" ? message : JSON.stringify(answer ?? "");
}
