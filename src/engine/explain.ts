import { sentences } from "../text.ts";
import { stateOf } from "./enter.ts";
import { gateReasons } from "./gate.ts";
import { guardReasons } from "./move.ts";
import { isForbidden, isPersonsTurn, isUnstarted, wantsAnswer, wordsLeadTo } from "./persons-turn.ts";
import type { Facts } from "./request.ts";
import { problemForPerson } from "./review.ts";
import { leadsByFindings, undecidedFindings, unfixedFindings, unfixedLeadTo } from "./reviewing.ts";
import { attemptsOf } from "./take-rule.ts";
import type { Task } from "./task.ts";
import { covers } from "./when.ts";
import type { State, Way, Workflow } from "./workflow.ts";

/** Where a task is, what blocks it apart from its needs (see `needsOf`), and who can move it. */
interface Explanation {
  readonly where: string;
  readonly blocked: readonly { readonly reason: string; readonly fix: string }[];
  readonly moves: readonly Move[];
}

interface Move {
  readonly to: string;
  /** The roles that may ask; empty means every actor of the task. */
  readonly by: readonly string[];
  readonly open: boolean;
  /** The command that asks for the move; empty where `role` may not ask. */
  readonly command: string;
  /** What is missing, as sentences. */
  readonly missing: readonly string[];
}

/** `role` is the reader, whose commands are shown. `isDependent`: the task waits for others, not for a slot. `waitsForSeat`: a run of it waits to be started. */
export function explain(
  workflow: Workflow,
  task: Task,
  facts: Facts,
  role = "human",
  { isDependent = false, waitsForSeat = false } = {},
): Explanation {
  const state = stateOf(workflow, task.status);
  const moves = state.terminal ? [] : movesOf(workflow, state, task, facts, role);
  return {
    where: whereIs(state, task, isDependent, waitsForSeat),
    blocked: blocks(workflow, state, task, moves),
    moves,
  };
}

function whereIs(state: State, task: Task, isDependent: boolean, waitsForSeat: boolean): string {
  const name = `"${state.name}"`;
  if (state.terminal && task.held !== undefined)
    return `The task has ended in ${name} (${state.outcome}), but some of its last effects failed.`;
  if (state.terminal) return `The task is over: it ended in ${name} (${state.outcome}).`;
  if (task.held !== undefined) return `The task is held in ${name} for a person.`;
  if (task.phase === "entering" && waitsForSeat) return `The task has entered ${name}; an agent waits to be started.`;
  if (task.phase === "entering") return `The task has entered ${name}; its hooks are being carried out.`;
  if (task.phase === "doing") return `The task is in ${name}, and the work of this state is under way.`;
  if (isDependent && state.wait.kind === "slot") return `The task is in ${name} and waits for what it depends on.`;
  return `The task is in ${name} and ${waitsFor(state, task)}.`;
}

function waitsFor(state: State, task: Task): string {
  const { wait } = state;
  const { turn } = task.wait;
  if (turn === "reply" || turn === "confirm") return "waits for a person's answer";
  switch (wait.kind) {
    case "agent":
      return task.runs[wait.run.role] === undefined
        ? `waits for ${wait.run.role}, which is not running`
        : `waits for ${wait.run.role}`;
    case "panel":
      return `waits for a panel of ${wait.member.role}`;
    case "fan_out":
      return "waits for its children";
    case "human":
      return "waits for a person";
    case "slot":
      return "waits for a free slot";
    case "time":
      return `waits for ${wait.seconds} seconds to pass`;
    case "open":
      return isPersonsTurn(state)
        ? "waits for a person"
        : "stays there until a person or an agent asks for another state";
    default:
      return "stays there until a person or an agent asks for another state";
  }
}

/** What blocks the task apart from its needs. */
function blocks(workflow: Workflow, state: State, task: Task, moves: readonly Move[]): Explanation["blocked"] {
  if (state.terminal || task.held !== undefined) return [];
  const failed = failedAttempt(state, task);
  if (failed !== undefined) return [failed];
  if (task.phase !== "waiting" || isPersonsTurn(state)) return [];
  const { wait } = state;
  if (wait.kind === "slot" && isUnstarted(workflow, task) && !task.autostart)
    return [{ reason: "The task does not start by itself.", fix: `signalbox task continue ${task.id}` }];
  if (wait.kind !== "agent" && wait.kind !== "open") return [];
  // What an agent at work has not brought yet blocks nothing; the later moves name it.
  if (wait.kind === "agent" ? task.runs[wait.run.role] !== undefined : Object.keys(task.runs).length > 0) return [];
  const closed = moves.filter((move) => !move.open && !move.by.includes("human"));
  return closed.flatMap(({ to, missing }) => missing.map((reason) => ({ reason: `For "${to}": ${reason}`, fix: "" })));
}

/** While a run is tried again: how the last attempt ended. Failures of the state before do not count. */
function failedAttempt({ wait, limits }: State, { id, runs, crashCount, phase, wait: progress, reason }: Task) {
  const spec = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : undefined;
  const isCounted = crashCount > 0 && (phase === "waiting" || progress.hasFailed === true);
  if (spec === undefined || !isCounted || runs[spec.role] === undefined) return undefined;
  const which = `This is attempt ${crashCount + 1} of ${attemptsOf(limits, spec.limits)} of ${spec.role}.`;
  const why = reason === "" ? "The last one failed." : `The last one failed: ${problemForPerson(reason)}`;
  return { reason: sentences([which, why]), fix: `See what it printed: signalbox task logs ${id}` };
}

function movesOf(workflow: Workflow, state: State, task: Task, facts: Facts, role: string): readonly Move[] {
  const byRules = ruleReasons(workflow, state, task, facts);
  return Object.entries(state.out).flatMap(([to, ways]) => {
    const askable = ways.filter((way) => way.implied !== "escalation");
    if (askable.length === 0) return [];
    const missingOf = (way: Way) => [
      ...guardReasons(way, workflow, task, facts).map(({ text }) => text),
      ...gateReasons(way, workflow, task, facts).map(({ text }) => text),
      ...(way.by?.every((asker) => asker === "engine") ? byRules(to) : []),
    ];
    const missing = askable.map(missingOf);
    const open = missing.some((reasons) => reasons.length === 0);
    const best = missing.reduce((least, each) => (each.length < least.length ? each : least));
    const own = askable.filter((way) => way.by?.includes(role) ?? true);
    const isOwn = !isForbidden(workflow, role, to) && own.some((way) => !open || missingOf(way).length === 0);
    const command = isOwn
      ? ownCommand(workflow, task, to, facts, role)
      : role === "human" && open
        ? commandOfYes(workflow, state, task, to, facts)
        : "";
    const by = askable.some((way) => way.by === undefined) ? [] : [...new Set(askable.flatMap((way) => way.by ?? []))];
    return [{ to, by, open, command, missing: best }];
  });
}

/** Why the engine does not take a way by the state's rules: a person decides first, or the agent has not brought its evidence. */
function ruleReasons(workflow: Workflow, state: State, task: Task, facts: Facts): (to: string) => readonly string[] {
  const textsOf = (when: State["evidence"]) => guardReasons({ when }, workflow, task, facts).map(({ text }) => text);
  const evidence = state.wait.kind === "agent" ? textsOf(state.evidence) : [];
  const undecided = undecidedFindings(workflow, task);
  const refused = unfixedFindings(workflow, task);
  const again = refused === undefined ? undefined : unfixedLeadTo(workflow, task);
  const unended = notEnded(state, task);
  const led =
    task.phase === "waiting" && task.held === undefined
      ? (leadsByFindings(state, task) ?? leadsByFacts(state, textsOf))
      : undefined;
  return (to) => {
    const rules = state.rules.filter(({ does }) => does.kind === "then" && does.to === to);
    if (rules.length === 0) return [];
    if (undecided !== undefined) return [undecided.text];
    if (unended !== "") return [unended];
    const reasons = rules.map(({ on, when }) => [
      ...textsOf(when),
      ...(to === again ? [] : otherEnding(state, on)),
      ...(covers(on, "ok") ? [...evidence, ...(refused === undefined ? [] : [refused.text])] : []),
    ]);
    const least = reasons.reduce((best, each) => (each.length < best.length ? each : best));
    return least.length > 0 || led === undefined || led === to ? least : [`An approval leads to "${led}".`];
  };
}

/**
 * The state that an approval leads to as things are: that of the first rule whose conditions hold. Undefined where the state's own
 * work comes between, which may change them.
 */
function leadsByFacts(
  { wait, rules, do: work }: State,
  reasonsOf: (when: State["evidence"]) => readonly string[],
): string | undefined {
  if (wait.kind !== "human" || work.length > 0) return undefined;
  const first = rules.find(
    ({ on, when, result, artifact }) =>
      covers(on, "ok") && (result !== undefined || artifact !== undefined || reasonsOf(when).length === 0),
  );
  if (first === undefined || first.result !== undefined || first.artifact !== undefined) return undefined;
  return first.does.kind === "then" ? first.does.to : undefined;
}

/** Why a person's approval does not lead where a rule for another ending of the state's own work does. */
function otherEnding({ name, wait }: State, on: readonly string[] | undefined): readonly string[] {
  if (wait.kind !== "human" || on === undefined || covers(on, "ok")) return [];
  const words = on.map((word) => `"${word}"`).join(" or ");
  return [`An approval leads there only if the work of "${name}" then ends with ${words}.`];
}

/** Why the rules of a state do not count yet: a panel works, or the task is held; empty where they do. */
function notEnded({ name, wait }: State, { held, phase }: Task): string {
  if (wait.kind === "human") return "";
  if (held !== undefined) return "The task is held.";
  if (phase === "doing") return `The work of "${name}" is under way.`;
  return wait.kind === "panel" ? "The panel has not ended." : "";
}

function ownCommand(workflow: Workflow, { id, status }: Task, to: string, facts: Facts, role: string): string {
  const isUnmerged = workflow.states[to]?.outcome === "done" && (facts.numbers.commits ?? 0) > 0;
  if (isUnmerged && role === "human") return `signalbox task merge ${id}`;
  const state = stateOf(workflow, status);
  if (role === "human" && wordsLeadTo(workflow, state).includes(to) && wantsAnswer(workflow, state, facts.document))
    return `signalbox task answer ${id} -m "Your answer"`;
  return `signalbox task update ${id} --status ${to}`;
}

/** The command for a way that only the engine takes, once a person approves or answers. */
function commandOfYes(workflow: Workflow, state: State, task: Task, to: string, { document }: Facts): string {
  const isNext = state.wait.kind === "human" && state.rules.some(({ does }) => does.kind === "then" && does.to === to);
  if (!isNext || task.phase === "doing") return "";
  if (task.held !== undefined) return `signalbox task continue ${task.id}`;
  return wantsAnswer(workflow, state, document)
    ? `signalbox task answer ${task.id} -m "Your answer"`
    : `signalbox task approve ${task.id}`;
}
