import { sentences } from "../text.ts";
import { answerProblem, reviewProblem } from "./check-answer.ts";
import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { startDraft, startRun } from "./draft.ts";
import { delayBefore } from "./duration.ts";
import { progressAtStart, startWait, stateOf } from "./enter.ts";
import { judgedAnswer, outdatedAnswer, waitOf } from "./judging.ts";
import type { Facts, Request } from "./request.ts";
import { problemForPerson } from "./review.ts";
import { reviewed } from "./reviewing.ts";
import { after, attemptsOf, endWait, takeRule } from "./take-rule.ts";
import type { Member, Task } from "./task.ts";
import { countFailure } from "./when.ts";
import type { RunSpec, Wait, Workflow } from "./workflow.ts";

type Panel = Extract<Wait, { kind: "panel" }>;
type Ended = Extract<Request, { kind: "ended" }>;

/** A run of a panel ended. The judge starts when every member has ended, and its answer is the panel's answer. */
export function afterMember(
  workflow: Workflow,
  task: Task,
  panel: Panel,
  name: string,
  request: Ended,
  facts: Facts,
): Decision {
  if (name === panel.judge.role) return afterJudge(workflow, task, panel, request, facts);
  const state = stateOf(workflow, task.status);
  const before: Member = task.wait.members[name] ?? { state: "running", tries: 1, answer: undefined };
  const { word, reason } = check(workflow, panel.member, request);
  const tryAgain = word !== "ok" && !isFinal(request) && before.tries < attemptsOf(state.limits, panel.member.limits);
  const member: Member = tryAgain
    ? { ...before, tries: before.tries + 1 }
    : { ...before, state: word === "ok" ? "ok" : "failed", answer: word === "ok" ? request.answer : undefined };
  const members = { ...task.wait.members, [name]: member };
  const all = Object.values(members);
  const isThrough = all.every((each) => each.state !== "running");
  const answers = all.filter((each) => each.state === "ok").map((each) => each.answer);

  const draft = startDraft(workflow, task, task.status);
  const delay = delayBefore(before.tries, state.limits.backoff ?? panel.member.limits.backoff);
  if (tryAgain) startRun(draft, panel.member, { member: Number(name.split("/")[1]), delay });
  else if (isThrough && answers.length > 0) startRun(draft, panel.judge);
  const results =
    isThrough && panel.member.result !== undefined ? { ...task.results, [panel.member.result]: answers } : task.results;
  const event: TaskEvent = {
    type: "panel.answered",
    by: panel.member.role,
    data: { member: name, run: request.run, word, reason },
    set: { wait: { ...task.wait, members }, results, runs: draft.runs, runCount: draft.runCount },
  };
  const next = apply(task, event);
  if (!isThrough || answers.length > 0) return { kind: "stayed", task: next, events: [event], effects: draft.effects };
  return after(
    event,
    takeRule(
      workflow,
      next,
      {
        ...{ word: "error", answer: undefined, again: "wait" },
        reason: sentences([`No ${panel.member.role} gave a usable answer.`, reason]),
      },
      facts,
    ),
  );
}

function afterJudge(workflow: Workflow, task: Task, panel: Panel, request: Ended, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const { word, reason } = checkJudge(workflow, task, panel.judge, request, facts);
  if (word === "ok") {
    const results =
      panel.judge.result === undefined ? task.results : { ...task.results, [panel.judge.result]: request.answer };
    const set = { results, ...judgedAnswer(workflow, task, panel.judge) };
    const event: TaskEvent = { type: "panel.answered", by: panel.judge.role, data: { run: request.run, word }, set };
    const told = apply(task, event);
    const review = reviewed(workflow, told, panel.judge, request, facts);
    const ending = { word, reason, answer: request.answer, again: "wait" as const };
    if (review === undefined) return after(event, endWait(workflow, told, ending, facts));
    return after(event, after(review, endWait(workflow, apply(told, review), ending, facts)));
  }
  const failure = countFailure(task);
  const count = failure.crashCount;
  const tryAgain = !isFinal(request) && count < attemptsOf(state.limits, panel.judge.limits);
  const draft = startDraft(workflow, task, task.status);
  // The members have looked at the old commit too.
  const isOutdated = outdatedAnswer(workflow, task, panel.judge, facts) !== undefined;
  if (tryAgain && isOutdated) startWait(draft, state);
  else if (tryAgain)
    startRun(draft, panel.judge, { delay: delayBefore(count, state.limits.backoff ?? panel.judge.limits.backoff) });
  const again =
    tryAgain && isOutdated ? waitOf(workflow, progressAtStart(draft, state, false), panel.judge, facts) : task.wait;
  // Before the move has settled, it says that the failures of the state before are forgotten.
  const { hasFailed } = failure.wait;
  const wait = {
    ...again,
    ...(hasFailed === undefined ? {} : { hasFailed }),
    ...(word === "invalid" ? { refused: reason } : {}),
  };
  const event: TaskEvent = {
    type: "panel.answered",
    by: panel.judge.role,
    data: { run: request.run, word, reason },
    set: { ...failure, reason, wait, runs: draft.runs, runCount: draft.runCount },
  };
  const next = apply(task, event);
  if (tryAgain) return { kind: "stayed", task: next, events: [event], effects: draft.effects };
  return after(
    event,
    takeRule(
      workflow,
      next,
      {
        ...{ word: word === "invalid" ? "invalid" : "error", answer: undefined, again: "wait" },
        reason: word === "invalid" ? refusedAnswer(panel.judge, reason, count) : reason,
      },
      facts,
    ),
  );
}

/** The judge of a held task, if only it has failed: the members have answered about the present commit. */
export function judgeAgain(workflow: Workflow, task: Task, { judge }: Panel, facts: Facts): RunSpec | undefined {
  const all = Object.values(task.wait.members);
  const isThrough = all.every((each) => each.state !== "running") && all.some((each) => each.state === "ok");
  return isThrough && outdatedAnswer(workflow, task, judge, facts) === undefined ? judge : undefined;
}

function refusedAnswer({ role }: RunSpec, reason: string, tries: number): string {
  const often = tries === 1 ? "" : `${role} failed ${tries} times in a row. `;
  return `${often}The last answer of ${role} was refused: ${problemForPerson(reason)}`;
}

/** Whether another try would end in the same way: a person must log in, or a budget is used up, or the model refuses. */
function isFinal({ word, isFinal }: Ended): boolean {
  return isFinal === true || word === "login" || word === "cost";
}

/** A panel judges one commit: if the work has moved since, its answer does not count. */
function checkJudge(workflow: Workflow, task: Task, spec: RunSpec, request: Ended, facts: Facts) {
  const checked = check(workflow, spec, request);
  if (checked.word !== "ok") return checked;
  const problem =
    reviewProblem(workflow, task, spec, request.answer, request.run) ?? outdatedAnswer(workflow, task, spec, facts);
  return problem === undefined ? checked : { word: "invalid", reason: problem };
}

function check(workflow: Workflow, spec: RunSpec, request: Ended): { word: string; reason: string } {
  if (request.word !== "ok")
    return { word: request.word, reason: request.reason ?? `${spec.role} ended with ${request.word}.` };
  const problem = answerProblem(workflow, spec, request.answer);
  return problem === undefined ? { word: "ok", reason: "" } : { word: "invalid", reason: problem };
}
