import { isJsonObject } from "../json.ts";
import { cutText, sentences } from "../text.ts";
import { apply, type Decision, type Effect, type TaskEvent } from "./decision.ts";
import { endRun, startDraft, startRun } from "./draft.ts";
import { delayBefore } from "./duration.ts";
import { addEffects, enter, stateOf } from "./enter.ts";
import { gateReason, gateReasons, trackedReasons } from "./gate.ts";
import { waitOf } from "./judging.ts";
import { guardReasons } from "./move.ts";
import type { Facts } from "./request.ts";
import { verdictWords } from "./review-words.ts";
import type { Held, Task } from "./task.ts";
import { allHold, countFailure, covers, fieldValue, holds, isAccident, writeGuard } from "./when.ts";
import type { Limits, Rule, Scalar, State, Way, Workflow } from "./workflow.ts";

/** Ends the wait of a state. After `ok` the state's own work (`do`) comes next, otherwise its rules. */
export function endWait(workflow: Workflow, task: Task, ending: Ending, facts: Facts, by = "engine"): Decision {
  const state = stateOf(workflow, task.status);
  if (ending.word !== "ok") return takeRule(workflow, task, ending, facts, by);
  if (state.do.length === 0) return conclude(workflow, task, ending, facts, by);
  return startWork(workflow, task, state, by);
}

/** How often an agent is told which evidence is missing before the rules are tried with `missing`. */
const maxToldMissing = 1;

/**
 * Ends the wait and the work. If the state's evidence is missing, `ok` does not count: the agent starts again, and is
 * told why.
 */
function conclude(workflow: Workflow, task: Task, ending: Ending, facts: Facts, by = "engine"): Decision {
  const state = stateOf(workflow, task.status);
  const { wait } = state;
  if (ending.word !== "ok" || task.wait.skipped || wait.kind !== "agent")
    return takeRule(workflow, task, ending, facts, by);
  // The task file counts first: while it is in the branch, its changes are uncommitted changes too.
  const reasons = [
    ...(state.evidence.length === 0 ? [] : trackedReasons(facts)),
    ...guardReasons({ when: state.evidence }, workflow, task, facts),
  ];
  if (reasons.length === 0) return takeRule(workflow, task, ending, facts, by);
  const missing = sentences([...reasons.map(({ text }) => text), facts.unreadable?.reason ?? ""]);
  if (task.wait.reminded >= maxToldMissing) {
    const said = task.wait.said ? `It said: ${task.wait.said}` : "It said nothing.";
    const reason = `${wait.run.role} ended without the evidence that "${state.name}" asks for, and was told so before. ${sentences([missing, said])}`;
    return takeRule(workflow, task, { word: "missing", reason, answer: undefined, again: "wait" }, facts, by);
  }
  const message = `Your last turn ended, but not all that it must hand over is there. ${sentences(
    reasons.flatMap(({ text, fix }) => [text, fix]),
  )} If that cannot be done, say why in your answer: a person looks then.`;
  const draft = startDraft(workflow, task, task.status);
  // A person may have started it again while the work was under way.
  if (draft.runs[wait.run.role] !== undefined) endRun(draft, wait.run.role, true);
  startRun(draft, wait.run, { prompt: wait.run.prompt ?? state.respawn?.prompt, message });
  const event: TaskEvent = {
    type: "agent.reminded",
    by: "engine",
    data: { role: wait.run.role, message },
    set: {
      reason: missing,
      phase: task.phase === "doing" ? "waiting" : task.phase,
      wait: waitOf(workflow, { ...task.wait, reminded: task.wait.reminded + 1 }, wait.run, facts),
      runs: draft.runs,
      sessions: draft.sessions,
      runCount: draft.runCount,
    },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: draft.effects };
}

/** Starts, or restarts, the engine's own work in a state. */
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

/** Ends the state's own work. An accident is retried while attempts are left. */
export function endWork(workflow: Workflow, task: Task, word: string, reason: string, facts: Facts): Decision {
  const state = stateOf(workflow, task.status);
  const answer = answerOf(state, task);
  if (!isAccident(word)) {
    const worked: TaskEvent = { type: "task.worked", by: "engine", data: { word, reason }, set: { reason } };
    return after(worked, conclude(workflow, apply(task, worked), { word, reason, answer, again: "do" }, facts));
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

/** The answer of the run that the state waited for, as its rules see it. */
function answerOf(state: State, task: Task): unknown {
  const { wait } = state;
  const result = wait.kind === "agent" ? wait.run.result : wait.kind === "panel" ? wait.judge.result : undefined;
  return result === undefined || task.wait.skipped ? undefined : task.results[result];
}

/** How a state's wait or work ended. */
interface Ending {
  readonly word: string;
  readonly reason: string;
  /** The validated answer, where the run gave one. */
  readonly answer: unknown;
  /** What a person's `continue` starts again. */
  readonly again: Held["again"];
}

/** Takes the first rule that matches and whose way is open; holds the task for a person where there is none. */
export function takeRule(workflow: Workflow, task: Task, ending: Ending, facts: Facts, by = "engine"): Decision {
  const state = stateOf(workflow, task.status);
  for (const [index, rule] of state.rules.entries()) {
    if (!fits(rule, state, workflow, task, ending, facts)) continue;
    const why = `rule ${index + 1}`;
    // The author's reason comes first; the ending's own reason may not explain the rule.
    const reason = sentences([rule.reason ?? "", ending.reason]);
    if (rule.does.kind === "then") {
      const way = openWay(state, rule.does.to, workflow, task, facts);
      if (way === undefined) continue;
      const verdict = verdictWords(workflow, state, task, ending.answer, stateOf(workflow, way.to));
      return enter(workflow, task, way, by, why, facts, sentences([reason, verdict]));
    }
    return crash(workflow, task, rule.does, { ...ending, reason }, by, facts);
  }
  const verdict = verdictWords(workflow, state, task, ending.answer, undefined);
  return hold(
    workflow,
    task,
    verdict === ""
      ? ending
      : { ...ending, reason: sentences([whyUncovered(workflow, task, state, ending, facts), verdict]) },
  );
}

/** Why no rule applies to an answer: what the answer was, and which guards of the rules for it do not hold. */
function whyUncovered(workflow: Workflow, task: Task, state: State, ending: Ending, facts: Facts): string {
  const { answer, word } = ending;
  const fields = [...new Set(state.rules.flatMap(({ result = {} }) => Object.keys(result)))];
  if (ending.reason !== "" || fields.length === 0 || !isJsonObject(answer)) return whyHeld(state, ending);
  const said = fields.map((field) => `${field} ${JSON.stringify(answer[field] ?? null)}`).join(", ");
  const meant = state.rules.filter(({ on, result }) => covers(on, word) && matches(result ?? {}, answer));
  const unmet = meant.flatMap(({ when }) => when.filter((guard) => !holds(guard, workflow, task, facts)));
  const why = unmet.map((guard) => `${writeGuard(guard)} (it is ${fieldValue(guard, workflow, task, facts)})`);
  const only = why.length === 0 ? "no rule covers that answer" : `the rule for that asks for ${why.join(", ")}`;
  return `The answer in "${state.name}" was ${cutText(said, maxAnswer)}, and ${only}, so a person decides.`;
}

const maxAnswer = 200;

/**
 * A task that was held because its evidence was missing does not start the agent again if a rule covers that now: a
 * person may have dismissed the finding that the agent should have fixed.
 */
export function noLongerHeld(
  workflow: Workflow,
  task: Task,
  { word, reason }: Held,
  continued: TaskEvent,
  facts: Facts,
): Decision | undefined {
  if (word !== "missing") return undefined;
  const ending = { word, reason, answer: undefined, again: "wait" as const };
  const decision = takeRule(workflow, task, ending, facts, continued.by);
  return decision.kind === "moved" ? after(continued, decision) : undefined;
}

/** The first way to a state that is open to the engine, in the order of the file. */
function openWay(state: State, to: string, workflow: Workflow, task: Task, facts: Facts): Way | undefined {
  return (state.out[to] ?? []).find(
    (way) => allHold(way.when, workflow, task, facts) && gateReasons(way, workflow, task, facts).length === 0,
  );
}

/** Whether a session has produced what some rule waits for: an exit code proves nothing, fresh evidence does. */
export function hasProduced(workflow: Workflow, task: Task, facts: Facts): boolean {
  const state = stateOf(workflow, task.status);
  return state.rules.some((rule) => {
    if (rule.does.kind !== "then" || !covers(rule.on, "ok") || !allHold(rule.when, workflow, task, facts)) return false;
    if (rule.artifact !== undefined && !artifactFits(rule, state, workflow, task, facts)) return false;
    const ways = (state.out[rule.does.to] ?? []).filter((way) => way.gates.length > 0 || rule.artifact !== undefined);
    return ways.some(
      (way) => allHold(way.when, workflow, task, facts) && gateReasons(way, workflow, task, facts).length === 0,
    );
  });
}

function fits(rule: Rule, state: State, workflow: Workflow, task: Task, ending: Ending, facts: Facts): boolean {
  if (!covers(rule.on, ending.word)) return false;
  if (rule.result !== undefined && !matches(rule.result, ending.answer)) return false;
  return allHold(rule.when, workflow, task, facts) && artifactFits(rule, state, workflow, task, facts);
}

function artifactFits(rule: Rule, state: State, workflow: Workflow, task: Task, facts: Facts): boolean {
  if (rule.artifact === undefined) return true;
  if (rule.artifact !== "none") return gateReason(rule.artifact, workflow, task, facts) === undefined;
  return !state.rules.some(
    ({ artifact }) =>
      artifact !== undefined && artifact !== "none" && gateReason(artifact, workflow, task, facts) === undefined,
  );
}

export function matches(wanted: Readonly<Record<string, Scalar>>, answer: unknown): boolean {
  if (typeof answer !== "object" || answer === null) return false;
  return Object.entries(wanted).every(
    ([field, value]) => Object.hasOwn(answer, field) && (answer as Record<string, unknown>)[field] === value,
  );
}

function crash(
  workflow: Workflow,
  before: Task,
  does: Exclude<Rule["does"], { kind: "then" }>,
  ending: Ending,
  by: string,
  facts: Facts,
): Decision {
  // Accidents are already counted; any other ending counts as a failure only if the author calls it a crash.
  const counted: TaskEvent | undefined =
    does.kind === "crash" && !isAccident(ending.word)
      ? { type: "agent.ended", by, data: { word: ending.word }, set: countFailure(before) }
      : undefined;
  const task = counted === undefined ? before : apply(before, counted);
  const decision = escalate(workflow, task, does.after, ending, by, facts) ?? hold(workflow, task, left(task, ending));
  return counted === undefined ? decision : after(counted, decision);
}

function escalate(
  workflow: Workflow,
  task: Task,
  limit: Exclude<Rule["does"], { kind: "then" }>["after"],
  { reason }: Ending,
  by: string,
  facts: Facts,
): Decision | undefined {
  if (limit?.to === undefined || task.crashCount < limit.count) return undefined;
  const way = workflow.ways.find(
    (each) => each.implied === "escalation" && each.from === task.status && each.to === limit.to,
  );
  return way === undefined ? undefined : enter(workflow, task, way, by, "escalated", facts, reason);
}

/**
 * An ending that the workflow leaves to a person. Adds why the task came here, which says more than how its wait ended.
 */
function left(task: Task, ending: Ending): Ending {
  const before = task.reason === "" ? "" : ` Before that: ${task.reason}`;
  const reason = `"${task.status}" ended with ${ending.word}, which the workflow leaves to a person.${before}`;
  return { ...ending, reason: ending.reason || reason };
}

/** Keeps the task where it is until a person continues it. */
export function hold(workflow: Workflow, task: Task, ending: Ending): Decision {
  const reason = whyHeld(stateOf(workflow, task.status), ending);
  const held: Held = { reason, word: ending.word, again: ending.again };
  const event: TaskEvent = {
    type: "task.held",
    by: "engine",
    data: { word: ending.word, reason },
    // Hooks that are still owed stay owed.
    set: { phase: task.phase === "entering" ? "entering" : "waiting", held, reason },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

function whyHeld({ name }: State, { reason, word }: Ending): string {
  return reason || `"${name}" ended with ${word}, and no rule covers that.`;
}

/** Puts an event before the events of a decision; the decision was made about the task as that event leaves it. */
export function after(event: TaskEvent, decision: Decision): Decision {
  if (decision.kind === "ignored" || decision.kind === "rejected") return decision;
  return { ...decision, events: [event, ...decision.events] };
}
