import { decideContinue, isOutdated, openQuestions, remind, respawn, unmergedWork, withWord } from "./continue.ts";
import { edit } from "./create.ts";
import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { stateOf, withWorkspace } from "./enter.ts";
import { complete, sendMessage } from "./hand-over.ts";
import { decideMove, rejected, standing } from "./move.ts";
import { editPlan, otherPlan } from "./plan-edit.ts";
import { keepPromises } from "./promises.ts";
import { isTalking, questionOver } from "./questions.ts";
import type { Actor, Facts, Request } from "./request.ts";
import { addFinding, decideFindings, undecidedFindings } from "./reviewing.ts";
import { afterReply, isAwaited, nameOf, roundLimit, runEnded } from "./run-ended.ts";
import { lostTicket, mended, reachedLimit, settled, unsettled, wentIdle } from "./settled.ts";
import { after, endWait, endWork } from "./take-rule.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

/**
 * Decides what a request does to a task. The same inputs always give the same decision: no clock, no randomness, no
 * I/O. Every change is in the events, everything still to be carried out is in the effects.
 */
export function decide(workflow: Workflow, task: Task, request: Request, facts: Facts): Decision {
  return keepPromises(workflow, task, request, decideWithoutPromises(workflow, task, request, facts), facts);
}

/** The decision before the promises of the workflow are checked: `verify` explores these, and proves that the check holds nothing. */
export function decideWithoutPromises(workflow: Workflow, task: Task, request: Request, facts: Facts): Decision {
  return withWorkspace(workflow, decideAlone(workflow, task, request, waitingFacts(request, facts)), facts);
}

/** An observation cannot be refused and asked again later: where no workspace is free, its effect waits for one. */
function waitingFacts(request: Request, facts: Facts): Facts {
  return facts.poolFull && !("actor" in request) ? { ...facts, poolFull: false } : facts;
}

function decideAlone(workflow: Workflow, task: Task, request: Request, facts: Facts): Decision {
  switch (request.kind) {
    case "move":
    case "continue":
      return asked(workflow, task, request, facts);
    case "reply":
      return reply(workflow, task, request, facts);
    case "respawn":
      return respawn(workflow, task, request.actor, facts);
    case "remind":
      return remind(workflow, task, request.actor, request.word, facts);
    case "finding":
      return decideFindings(workflow, task, request);
    case "own_finding":
      return addFinding(workflow, task, request, facts);
    case "plan":
      return editPlan(workflow, task, request);
    case "edit":
      return edit(workflow, task, request.actor, request.set);
    case "complete":
      return complete(workflow, task, request, facts);
    case "message":
      return sendMessage(workflow, task, request);
    case "ended":
      return runEnded(workflow, task, request, facts);
    case "idle":
      return wentIdle(workflow, task, request, facts);
    case "settled":
      return settled(workflow, task, request.entry, facts);
    case "unsettled":
      return unsettled(workflow, task, request);
    case "mended":
      return mended(task, request.entry, request.action);
    case "did":
      if (request.entry !== task.entry || task.phase !== "doing")
        return { kind: "ignored", why: "The task has moved on." };
      return endWork(workflow, task, request.word, request.reason ?? "", facts);
    case "children":
      return childrenEnded(workflow, task, request, facts);
    case "limit":
      return reachedLimit(workflow, task, request, facts);
    case "ticket":
      return lostTicket(workflow, task, request.reason);
  }
}

type Asking = Extract<Request, { kind: "move" | "continue" }>;

function asked(workflow: Workflow, task: Task, request: Asking, facts: Facts): Decision {
  const { word } = request;
  if (word === undefined) return askedPlainly(workflow, task, request, facts);
  const outdated =
    (word.answers && questionOver(task, word.answers.question)) ??
    isOutdated(task, request.kind, word, facts) ??
    otherPlan(workflow, task, word.plan);
  if (outdated !== undefined) return rejected(outdated);
  const decision = askedPlainly(workflow, task, request, facts);
  const unmerged = word.merged === true ? unmergedWork(workflow, task, decision, facts) : undefined;
  if (unmerged !== undefined) return rejected(unmerged);
  const left =
    word.answered === true ? (openQuestions(workflow, task, facts) ?? undecidedFindings(workflow, task)) : undefined;
  if (left !== undefined && decision.kind !== "rejected") return rejected(left);
  return withWord(workflow, task, decision, word);
}

function askedPlainly(workflow: Workflow, task: Task, request: Asking, facts: Facts): Decision {
  if (request.kind === "continue") return decideContinue(workflow, task, request.actor, facts);
  const decision = decideMove(workflow, task, request.to, request.actor, facts, request.reason);
  return outdatedVerdict(workflow, task, request.actor, decision, facts) ?? decision;
}

/**
 * A judge asks with a verdict about a commit that is no longer the present one. Its run is over, as if it had ended without
 * a verdict: the state's attempts and rules say whether another judge begins with the present commit.
 */
function outdatedVerdict(
  workflow: Workflow,
  task: Task,
  { role, run = "" }: Actor,
  decision: Decision,
  facts: Facts,
): Decision | undefined {
  if (decision.kind !== "rejected" || !workflow.judges.includes(role)) return undefined;
  const name = nameOf(task, run);
  if (name === undefined) return undefined;
  if (!isAwaited(stateOf(workflow, task.status), task, name)) return undefined;
  if (decision.reasons.some(({ code }) => code !== "gate-stale")) return undefined;
  const reason = decision.reasons.map(({ text }) => text).join(" ");
  const word = task.runs[name]?.mode === "session" ? "exit" : "invalid";
  const ended = runEnded(workflow, task, { kind: "ended", run, word, reason }, facts);
  if (ended.kind !== "moved" && ended.kind !== "stayed") return undefined;
  const kill = { action: "kill_agent", params: { role: name, run } };
  return { ...ended, effects: [kill, ...ended.effects] };
}

function childrenEnded(
  workflow: Workflow,
  task: Task,
  request: Extract<Request, { kind: "children" }>,
  facts: Facts,
): Decision {
  const isOther = stateOf(workflow, task.status).wait.kind !== "fan_out" || task.phase === "doing";
  if (request.entry !== task.entry || isOther) return { kind: "ignored", why: "The task has moved on." };
  const { word, reason = "" } = request;
  const set = { wait: { ...task.wait, childrenOver: true } };
  const event: TaskEvent = { type: "children.ended", by: "engine", data: { word, reason }, set };
  return after(event, endWait(workflow, apply(task, event), { word, reason, answer: undefined, again: "wait" }, facts));
}

function reply(workflow: Workflow, task: Task, request: Extract<Request, { kind: "reply" }>, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const refusal = standing(state, task, request.actor);
  if (refusal !== undefined) return rejected(refusal);
  if (request.actor.role !== "human") {
    return rejected({ code: "only-human", text: "Only a person can answer.", fix: "Wait for the person." });
  }
  const over = request.answers && questionOver(task, request.answers.question);
  if (over !== undefined) return rejected(over);
  const { wait } = state;
  if (wait.kind === "agent" && wait.run.mode === "dialogue" && isTalking(task))
    return afterReply(workflow, task, wait.run, request, roundLimit(workflow, task, wait.run), facts);
  const event: TaskEvent = {
    type: "task.attended",
    by: "human",
    data: { text: request.text },
    set: { attended: true },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}
