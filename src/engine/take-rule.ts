import type { Decision, TaskEvent } from "./decision.ts";
import { apply } from "./decision.ts";
import { enter, stateOf } from "./enter.ts";
import { gateReason, gateReasons } from "./gate.ts";
import type { Facts } from "./request.ts";
import { sentences } from "./sentence.ts";
import type { Held, Task } from "./task.ts";
import { allHold } from "./when.ts";
import { countFailure, covers, isAccident } from "./words.ts";
import type { Rule, Scalar, State, Way, Workflow } from "./workflow.ts";

/** How a state's wait or work ended. */
export interface Ending {
  readonly word: string;
  readonly reason: string;
  /** The validated answer, where the run gave one. */
  readonly answer: unknown;
  /** What `continue` would start again. */
  readonly again: Held["again"];
}

/** Takes the first rule that fits and whose way is open; holds the task for a person where there is none. */
export function takeRule(workflow: Workflow, task: Task, ending: Ending, facts: Facts, by = "engine"): Decision {
  const state = stateOf(workflow, task.status);
  for (const [index, rule] of state.rules.entries()) {
    if (!fits(rule, state, workflow, task, ending, facts)) continue;
    const why = `rule ${index + 1}`;
    // How it ended may say nothing about what the author makes of it.
    const reason = sentences([rule.reason ?? "", ending.reason]);
    if (rule.does.kind === "then") {
      const way = openWay(state, rule.does.to, workflow, task, facts);
      if (way !== undefined) return enter(workflow, task, way, by, why, facts, reason);
      continue;
    }
    return crash(workflow, task, rule.does, { ...ending, reason }, by, facts);
  }
  return hold(workflow, task, ending);
}

/** The first way to a state that is open to the engine, in the order of the file. */
function openWay(state: State, to: string, workflow: Workflow, task: Task, facts: Facts): Way | undefined {
  return (state.out[to] ?? []).find(
    (way) => allHold(way.when, workflow, task, facts) && gateReasons(way, workflow, task, facts).length === 0,
  );
}

/** Whether a session's end brought what some rule waits for: an exit code proves nothing, a fresh artifact does. */
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
  task: Task,
  does: Exclude<Rule["does"], { kind: "then" }>,
  ending: Ending,
  by: string,
  facts: Facts,
): Decision {
  // An accident was counted when it was seen; any other ending counts only if the author calls it a crash.
  if (does.kind === "crash" && !isAccident(ending.word)) {
    const counted: TaskEvent = {
      type: "agent.ended",
      by,
      data: { word: ending.word },
      set: countFailure(task),
    };
    return after(counted, escalateOrHold(workflow, apply(task, counted), does, ending, by, facts));
  }
  return escalateOrHold(workflow, task, does, ending, by, facts);
}

function escalateOrHold(
  workflow: Workflow,
  task: Task,
  does: Exclude<Rule["does"], { kind: "then" }>,
  ending: Ending,
  by: string,
  facts: Facts,
): Decision {
  const limit = does.after;
  if (limit?.to !== undefined && task.crashCount >= limit.count) {
    const way = workflow.ways.find(
      (each) => each.implied === "escalation" && each.from === task.status && each.to === limit.to,
    );
    if (way !== undefined) return enter(workflow, task, way, by, "escalated", facts, ending.reason);
  }
  // Why it came here says more than how a pause ended.
  const before = task.reason === "" ? "" : ` Before that: ${task.reason}`;
  const left = `"${task.status}" ended with ${ending.word}, which the workflow leaves to a person.${before}`;
  return hold(workflow, task, { ...ending, reason: ending.reason || left });
}

/** Keeps the task where it is until a person continues it. */
export function hold(workflow: Workflow, task: Task, ending: Ending): Decision {
  const reason =
    ending.reason || `"${stateOf(workflow, task.status).name}" ended with ${ending.word}, and no rule covers that.`;
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

/** Puts an event in front of what was decided about the task it leads to. */
export function after(event: TaskEvent, decision: Decision): Decision {
  if (decision.kind === "ignored" || decision.kind === "rejected") return decision;
  return { ...decision, events: [event, ...decision.events] };
}
