import { oneLine, sentences } from "../text.ts";
import { answerProblem, reviewProblem } from "./check-answer.ts";
import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { startDraft, startRun, without } from "./draft.ts";
import { delayBefore } from "./duration.ts";
import { restarted, stateOf } from "./enter.ts";
import { withReport } from "./handed.ts";
import { judgedAnswer, outdatedAnswer, waitOf } from "./judging.ts";
import { afterMember } from "./panel.ts";
import { questionId } from "./questions.ts";
import type { Facts, Request } from "./request.ts";
import { problemForPerson } from "./review.ts";
import { reviewed } from "./reviewing.ts";
import { specOf } from "./run-spec.ts";
import { after, attemptsOf, endWait, hasProduced, matches, takeRule } from "./take-rule.ts";
import type { LogEntry, Task } from "./task.ts";
import { countFailure, isAccident, resolve } from "./when.ts";
import type { RunSpec, State, Workflow } from "./workflow.ts";

/** The agent's turn in a dialogue ended with a valid answer: the person replies, or confirms the end. */
function afterTurn(workflow: Workflow, task: Task, spec: RunSpec, answer: unknown, facts: Facts): Decision {
  const isReady = matches(spec.until ?? {}, answer);
  const said: LogEntry = { from: "agent", text: textOf(answer) };
  const turn = isReady ? (spec.confirm ? "confirm" : undefined) : "reply";
  const set: Pick<Task, "log" | "wait"> = { log: [...task.log, said], wait: { ...task.wait, turn } };
  const asked: TaskEvent = {
    type: "dialogue.asked",
    by: spec.role,
    data: {
      ...{ message: said.text, confirm: turn === "confirm" },
      ...(turn === undefined ? {} : { question: questionId({ ...task, ...set }) }),
    },
    set,
  };
  const next = apply(task, asked);
  if (turn !== undefined) return { kind: "stayed", task: next, events: [asked], effects: [] };
  return after(asked, endWait(workflow, next, { word: "ok", reason: "", answer, again: "wait" }, facts));
}

/** The person replied. A message that is only a yes confirms; anything else is feedback, and the agent continues. */
export function afterReply(
  workflow: Workflow,
  task: Task,
  spec: RunSpec,
  { text, answers }: Extract<Request, { kind: "reply" }>,
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
    data: { text, round, confirmed: isConfirmed, ...answers, question: questionId(task) },
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
  const reason = isConfirmed ? "" : `All ${limit} rounds are used; the task continues with the last answer.`;
  return after(
    answered,
    endWait(workflow, next, { word: isConfirmed ? "ok" : "rounds", reason, answer, again: "wait" }, facts),
  );
}

export function roundLimit(workflow: Workflow, task: Task, spec: RunSpec): number {
  const limits = workflow.states[task.status]?.limits;
  return resolve(limits?.rounds ?? spec.limits.rounds ?? Number.POSITIVE_INFINITY, workflow, task);
}

/** Whether a whole message is a yes. */
export function isYes(text: string): boolean {
  return /^\s*(y|yes|yep|yeah|ok|okay|sure|confirm|confirmed|lgtm|go ahead|proceed)[\s.!]*$/i.test(text);
}

function textOf(answer: unknown): string {
  const message =
    typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>).message : undefined;
  return typeof message === "string" ? message : JSON.stringify(answer ?? "");
}

type Ended = Extract<Request, { kind: "ended" }>;

/** A run ended. Each run is judged once: a run that is no longer live was judged, killed or replaced before. */
export function runEnded(workflow: Workflow, task: Task, end: Ended, facts: Facts): Decision {
  const name = nameOf(task, end.run);
  if (name === undefined) return { kind: "ignored", why: `The run ${end.run} is not live any more.` };
  const state = stateOf(workflow, task.status);
  const spec = specOf(workflow, state, name);
  const request = withReport(workflow, spec, task.runs[name]?.report, end);
  const ended = endedEvent(task, name, request, spec, state.evidence.length === 0 ? "" : wordsOf(task, name, end));
  const rest = apply(task, ended);
  if (request.word === "lost") return resume(workflow, rest, state, spec, name, request, ended);
  if (state.terminal || task.phase === "doing" || !isAwaited(state, task, name)) {
    return { kind: "stayed", task: rest, events: [ended], effects: [] };
  }
  if (state.wait.kind === "panel") return after(ended, afterMember(workflow, rest, state.wait, name, request, facts));
  return after(ended, judge(workflow, rest, state, spec, request, facts));
}

/** The name of a live run: its role, or `role/n` in a panel. */
export function nameOf(task: Task, run: string): string | undefined {
  return Object.keys(task.runs).find((name) => task.runs[name]?.key === run);
}

/** Whether the state waits for this run. A state without a wait of its own watches every run that a hook started. */
export function isAwaited(state: State, task: Task, name: string): boolean {
  const { wait } = state;
  if (task.wait.skipped) return false;
  if (wait.kind === "agent") return wait.run.role === name;
  if (wait.kind === "panel") return name === wait.judge.role || name in task.wait.members;
  return wait.kind === "open" && state.rules.length > 0;
}

function judge(workflow: Workflow, task: Task, state: State, spec: RunSpec, request: Ended, facts: Facts): Decision {
  const { word, reason, answer, results } = readEnding(workflow, task, spec, request, facts);
  const judged = results === task.results ? {} : judgedAnswer(workflow, task, spec);
  const known: TaskEvent = {
    type: "agent.ended",
    by: spec.role,
    data: { word, reason },
    set: { results, reason, ...judged },
  };
  const told = results === task.results && reason === task.reason ? task : apply(task, known);
  const review =
    results === task.results ? undefined : reviewed(workflow, told, spec, { run: request.run, answer }, facts);
  if (word === "step") return after(known, nextStep(workflow, told, state, spec, facts));
  if (spec.mode === "dialogue" && word === "ok") return after(known, afterTurn(workflow, told, spec, answer, facts));
  if (review !== undefined) {
    const taken = endWait(workflow, apply(told, review), { word, reason, answer, again: "wait" }, facts);
    return after(known, after(review, taken));
  }
  if (!isAccident(word)) return after(known, endWait(workflow, told, { word, reason, answer, again: "wait" }, facts));

  const failure = countFailure(task);
  const count = failure.crashCount;
  const refused = word === "invalid" ? { wait: { ...failure.wait, refused: reason } } : {};
  const counted: TaskEvent = { ...known, set: { results, reason, ...failure, ...refused } };
  const failed = apply(task, counted);
  if (count < attemptsOf(state.limits, spec.limits) && request.isFinal !== true)
    return after(counted, tryAgain(workflow, failed, state, spec, word, count, facts));
  return after(
    counted,
    takeRule(
      workflow,
      failed,
      { word, reason: lastReason(workflow, spec, word, reason, count), answer, again: "wait" },
      facts,
    ),
  );
}

/** Why a run has failed for good. The agent was told why its answer was refused; a person is also told how often. */
function lastReason(workflow: Workflow, spec: RunSpec, word: string, reason: string, tries: number): string {
  if (word !== "invalid" || reason === "" || tries === 1) return reason || silence(spec, word);
  const isPlan = Object.values(workflow.states).some(
    ({ wait }) => wait.kind === "fan_out" && wait.from.result === spec.result,
  );
  const what = `${isPlan ? "plan" : "answer"} of ${spec.role}`;
  return `${spec.role} failed ${tries} times in a row. The last ${what} was refused: ${problemForPerson(reason)}`;
}

/** Interprets the end of a run according to its mode. */
function readEnding(workflow: Workflow, task: Task, spec: RunSpec, request: Ended, facts: Facts) {
  const { word, reason = "", answer } = request;
  const same = { word: word as string, reason, answer: undefined as unknown, results: task.results };
  if (spec.mode === "session") {
    // Only a report gives a session an answer.
    if ((word !== "ok" && word !== "exit") || answer !== undefined) return same;
    return { ...same, word: hasProduced(workflow, task, facts) ? "ok" : "exit" };
  }
  if (word !== "ok" || spec.result === undefined || workflow.schemas[spec.result] === undefined) return same;
  const problem =
    answerProblem(workflow, spec, answer) ??
    reviewProblem(workflow, task, spec, answer, request.run) ??
    outdatedAnswer(workflow, task, spec, facts);
  if (problem !== undefined) return { ...same, word: "invalid", reason: problem };
  return { ...same, answer, results: { ...task.results, [spec.result]: answer } };
}

function nextStep(workflow: Workflow, task: Task, state: State, spec: RunSpec, facts: Facts): Decision {
  const step = task.wait.step + 1;
  const limit =
    task.wait.stepLimit ?? resolve(state.limits.steps ?? spec.limits.steps ?? Number.POSITIVE_INFINITY, workflow, task);
  const draft = startDraft(workflow, task, task.status);
  const isLast = step >= limit;
  if (!isLast) startRun(draft, spec, { prompt: spec.stepPrompt ?? spec.prompt });
  const stepped: TaskEvent = {
    type: "agent.stepped",
    by: spec.role,
    data: isLast ? { step, limit } : { step },
    // A successful step ends the row of failures.
    set: { wait: { ...task.wait, step }, crashCount: 0, runs: draft.runs, runCount: draft.runCount },
  };
  const next = apply(task, stepped);
  if (!isLast) return { kind: "stayed", task: next, events: [stepped], effects: draft.effects };
  const reason = `${spec.role} took ${step} steps, which is the limit.`;
  return after(stepped, endWait(workflow, next, { word: "steps", reason, answer: undefined, again: "wait" }, facts));
}

/** Retries the run: in its old session after an error between steps or in a dialogue, otherwise in a new one. */
function tryAgain(
  workflow: Workflow,
  task: Task,
  state: State,
  spec: RunSpec,
  word: string,
  count: number,
  facts: Facts,
): Decision {
  const draft = startDraft(workflow, task, task.status);
  const goesOn = word === "error" && spec.mode === "steps" && task.wait.step > 0;
  const prompt = goesOn
    ? (spec.stepPrompt ?? spec.prompt)
    : spec.mode === "session"
      ? (state.respawn?.prompt ?? spec.prompt)
      : (spec.prompt ?? state.respawn?.prompt);
  const delay = delayBefore(count, state.limits.backoff ?? spec.limits.backoff);
  startRun(draft, spec, { prompt, resume: goesOn || spec.mode === "dialogue", delay });
  const event: TaskEvent = {
    type: "agent.retried",
    by: "engine",
    data: { role: spec.role, attempt: count + 1, delay },
    set: { runs: draft.runs, runCount: draft.runCount, wait: waitOf(workflow, task.wait, spec, facts) },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}

/**
 * Resumes a run that was lost because the machine or the terminal server went down, or a person paused: not a crash.
 */
function resume(
  workflow: Workflow,
  task: Task,
  state: State,
  spec: RunSpec,
  name: string,
  { reason = "" }: Ended,
  ended: TaskEvent,
): Decision {
  if (state.terminal) return { kind: "stayed", task, events: [ended], effects: [] };
  const draft = startDraft(workflow, task, task.status);
  const member = name.includes("/") ? { member: Number(name.split("/")[1]) } : {};
  startRun(draft, spec, {
    ...member,
    prompt: spec.mode === "steps" && task.wait.step > 0 ? spec.stepPrompt : (spec.prompt ?? state.respawn?.prompt),
  });
  const event: TaskEvent = {
    type: "agent.resumed",
    by: "engine",
    data: reason === "" ? { role: spec.role } : { role: spec.role, reason },
    set: { runs: draft.runs, runCount: draft.runCount },
  };
  return { kind: "stayed", task: apply(task, event), events: [ended, event], effects: draft.effects };
}

const maxSaid = 300;

/** What a run says at its end, for the person who looks if its evidence is missing. */
function wordsOf({ runs }: Task, name: string, { answer }: Ended): string {
  const { summary = "", reason = "" } = runs[name]?.report ?? {};
  const said = sentences([summary, reason]);
  return oneLine(said === "" && typeof answer === "string" ? answer : said, maxSaid);
}

function endedEvent(task: Task, name: string, request: Ended, spec: RunSpec, said: string): TaskEvent {
  // Keep the session where it can be resumed: after a loss, where the role keeps it, and where more turns or steps
  // follow.
  const canResume =
    request.word === "lost" ||
    spec.keep ||
    request.word === "step" ||
    spec.mode === "dialogue" ||
    (spec.mode === "steps" && ["error", "login"].includes(request.word));
  const sessions = canResume
    ? { ...task.sessions, [name]: request.run }
    : name in task.sessions
      ? without(task.sessions, name)
      : task.sessions;
  return {
    type: "agent.ended",
    by: spec.role,
    data: { run: request.run, word: request.word },
    set: {
      runs: without(task.runs, name),
      sessions,
      ...(said === (task.wait.said ?? "") ? {} : { wait: { ...task.wait, said } }),
    },
  };
}

function silence(spec: RunSpec, word: string): string {
  return word === "exit" ? `${spec.role} ended without what the next state needs.` : `${spec.role} ended with ${word}.`;
}
