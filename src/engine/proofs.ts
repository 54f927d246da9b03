import type { Decision, TaskEvent } from "./decision.ts";
import { givenCommit } from "./judging.ts";
import type { Facts } from "./request.ts";
import { matches } from "./take-rule.ts";
import type { Proof, Task } from "./task.ts";
import type { Action, AuthorsPromise, Gate, PromisedEvidence, RunSpec, State, Workflow } from "./workflow.ts";

// What happened to a task of that which promises ask for. Decisions note it in the task; `verify` asks the same functions.

/** What one event does to the evidence: gives it, takes it back, or neither. */
export type Change = Proof | "withdrawn" | undefined;

/** The evidence that promises of the workflow ask for, each once. */
function evidenceWanted(workflow: Workflow): readonly PromisedEvidence[] {
  const before = evidenceOf.get(workflow);
  if (before !== undefined) return before;
  const wanted = new Map<string, PromisedEvidence>();
  for (const promise of workflow.promises)
    if (promise.kind === "after") wanted.set(promise.evidence.key, promise.evidence);
  const found = [...wanted.values()];
  evidenceOf.set(workflow, found);
  return found;
}

// A cache: every decision asks.
const evidenceOf = new WeakMap<Workflow, readonly PromisedEvidence[]>();

/** What a decision does to the evidence, its last word counting. `before` is the task before it. */
export function changeOf(
  workflow: Workflow,
  wanted: PromisedEvidence,
  before: Task,
  events: readonly TaskEvent[],
  facts: Facts,
): Change {
  let change: Change;
  for (const event of events) change = changeBy(workflow, wanted, before, event, facts) ?? change;
  return change;
}

function changeBy(workflow: Workflow, wanted: PromisedEvidence, before: Task, event: TaskEvent, facts: Facts): Change {
  const state = workflow.states[before.status];
  if (state === undefined) return undefined;
  switch (wanted.kind) {
    case "merged":
      return merged(state, event, facts);
    case "tests":
      return tested(state, before, event, facts);
    case "gate":
      return personsWord(wanted.by, state, event, facts) ?? passed(workflow, wanted, state, event, facts);
    case "result":
      return personsWord(wanted.by, state, event, facts) ?? answered(workflow, wanted, state, before, event, facts);
  }
}

function merged({ do: work }: State, event: TaskEvent, { numbers, head }: Facts): Change {
  const isSeen = event.type === "task.moved" && numbers.merged === 1;
  const isDone = event.type === "task.worked" && event.data.word === "ok" && lastOf(work, mergesTask);
  return isSeen || isDone ? { role: "engine", commit: head } : undefined;
}

function tested({ do: work }: State, { tested: record }: Task, event: TaskEvent, { head }: Facts): Change {
  if (event.type !== "task.worked" || !work.some(runsTests)) return undefined;
  const { word } = event.data;
  if (word === "tests" || word === "untested") return "withdrawn";
  if (word !== "ok" || !lastOf(work, runsTests) || (record?.word ?? "ok") !== "ok") return undefined;
  return { role: "engine", commit: record?.commit ?? head };
}

/** Whether the work has the action, and nothing after it that may commit. */
function lastOf(work: readonly Action[], is: (action: Action) => boolean): boolean {
  return work.findLastIndex(is) > work.findLastIndex(commits);
}

export function mergesTask({ name, params }: Action): boolean {
  return name === "merge_pr" || (name === "merge" && (params.from ?? "task") === "task" && params.into !== "task");
}

/** With `only: stale` the action succeeds without tests too, where no command for tests was found. */
export function runsTests({ name, params }: Action): boolean {
  return name === "run_tests" && params.only !== "stale";
}

/** Whether an action may change the commit that the task's branch is at. */
function commits({ name, params }: Pick<Action, "name" | "params">): boolean {
  if (name === "merge") return !mergesTask({ name, params, run: undefined });
  return name === "harvest_uncommitted" || name === "run_command" || name === "create_branch";
}

/**
 * A person's own move, or their `continue` where the state waits for a person, is their word about the present work. In other
 * states `continue` only tries again what has failed.
 */
function personsWord(
  by: readonly string[] | undefined,
  { wait }: State,
  { type, by: who, data }: TaskEvent,
  { head }: Facts,
): Change {
  if (who !== "human" || !by?.includes("human")) return undefined;
  const isMove = type === "task.moved" && data.cause === "asked";
  const isYes = type === "task.continued" && wait.kind === "human";
  return isMove || isYes ? { role: "human", commit: head } : undefined;
}

function passed(
  workflow: Workflow,
  { section, verdict, by }: Extract<PromisedEvidence, { kind: "gate" }>,
  state: State,
  event: TaskEvent,
  facts: Facts,
): Change {
  const gates = gatesPassed(state, event).filter((gate) => gate.section === section);
  if (gates.length === 0) return undefined;
  // Where another way to the same state asks for another verdict, the event does not say which one it was.
  if (verdict !== undefined && gates.some((gate) => gate.verdict !== verdict)) return "withdrawn";
  const writers = writersOf(workflow, section, facts);
  // A person may write every section, in the place of the role that owns it.
  const counts = by === undefined || writers.every((role) => role === "human" || by.includes(role));
  return counts ? { role: writers[0] ?? "", commit: facts.head } : undefined;
}

/** The gates of the ways that a move may have taken; none where it passed none. */
function gatesPassed({ out }: State, event: TaskEvent): readonly Gate[] {
  if (event.type !== "task.moved" || !Array.isArray(event.data.evidence)) return [];
  return (out[String(event.data.to)] ?? []).flatMap(({ gates }) => gates);
}

/** Who wrote a section or, where that is not known, everybody who may have. */
function writersOf({ owners, roles }: Workflow, section: string, { artifacts }: Facts): readonly string[] {
  const known = Object.hasOwn(artifacts, section) ? artifacts[section]?.role : undefined;
  if (known !== undefined) return [known];
  const named = owners[section] ?? [];
  return named.length > 0 ? named : Object.keys(roles);
}

function answered(
  workflow: Workflow,
  { fields, by }: Extract<PromisedEvidence, { kind: "result" }>,
  state: State,
  before: Task,
  event: TaskEvent,
  { head }: Facts,
): Change {
  const run = answeredBy(state, before, event);
  if (run?.result === undefined || (by !== undefined && !by.includes(run.role))) return undefined;
  const { properties = {} } = workflow.schemas[run.result] ?? {};
  if (!Object.keys(fields).every((field) => Object.hasOwn(properties, field))) return undefined;
  if (!matches(fields, event.set.results?.[run.result])) return "withdrawn";
  return { role: run.role, commit: head || givenCommit(before) };
}

/** The run whose answer the state waited for, if the event is about a new answer of it. */
function answeredBy({ wait }: State, before: Task, { type, set }: TaskEvent): RunSpec | undefined {
  if (type !== "agent.ended" && type !== "panel.answered") return undefined;
  const run = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : undefined;
  const { results } = set;
  if (run?.result === undefined || results === undefined || results === before.results) return undefined;
  return results[run.result] === before.results[run.result] && type === "panel.answered" ? undefined : run;
}

/** The run of `other` that gave what only `role` is there to give: a verdict, or an answer of its schema. */
export function givenInPlace(
  workflow: Workflow,
  { role, other }: Extract<AuthorsPromise, { kind: "never_same_run_as" }>,
  before: Task,
  events: readonly TaskEvent[],
  facts: Facts,
): boolean {
  const state = workflow.states[before.status];
  if (state === undefined) return false;
  return events.some((event) => {
    const verdicts = gatesPassed(state, event).filter(({ section, verdict }) => {
      return verdict !== undefined && workflow.owners[section]?.includes(role) === true;
    });
    if (verdicts.some(({ section }) => writersOf(workflow, section, facts).includes(other))) return true;
    const run = answeredBy(state, before, event);
    return run?.role === other && run.result !== undefined && answersOf(workflow, role).has(run.result);
  });
}

/** The schemas that the answers of a role's runs have. */
export function answersOf(workflow: Workflow, role: string): ReadonlySet<string> {
  const all = [...Object.values(workflow.roles), ...runsOf(workflow)];
  return new Set(all.flatMap((run) => (run.role === role && run.result !== undefined ? [run.result] : [])));
}

/** Every run that a state waits for or a hook starts. */
export function runsOf({ states, ways }: Pick<Workflow, "states" | "ways">): readonly RunSpec[] {
  const waits = Object.values(states).flatMap(({ wait, respawn }) => [
    ...(wait.kind === "agent" || wait.kind === "human" ? [wait.run] : []),
    ...(wait.kind === "panel" ? [wait.member, wait.judge] : []),
    respawn,
  ]);
  return [...waits, ...ways.flatMap(({ hooks }) => hooks.map(({ run }) => run))].filter((run) => run !== undefined);
}

/**
 * Whether the task's branch may get commits before the next decision: somebody is at work who is no judge, children are
 * merged into it, or an action that commits is owed. Judges work in checkouts of their own.
 */
export function mayCommit(workflow: Workflow, { status, phase, runs, held, wait }: Task): boolean {
  const state = workflow.states[status];
  if (state === undefined) return false;
  if (Object.keys(runs).some((name) => !workflow.judges.includes(name.split("/")[0] ?? name))) return true;
  if (state.wait.kind === "fan_out" && !wait.childrenOver && phase !== "doing") return true;
  const isAtWork = phase === "doing" || held?.again === "do";
  if ((isAtWork || state.terminal) && state.do.some(commits)) return true;
  return phase === "entering" && workflow.ways.some((way) => way.to === status && way.hooks.some(commits));
}

/** The proofs that still count: the work is at the same commit or, where that is not known, cannot have moved. */
export function freshProofs(workflow: Workflow, task: Task, { head }: Facts): Task["proofs"] {
  const { proofs } = task;
  if (proofs === undefined) return undefined;
  let mayMove: boolean | undefined;
  const kept = Object.entries(proofs).filter(([, { commit }]) => {
    if (commit !== "" && head !== "") return commit === head;
    mayMove ??= mayCommit(workflow, task);
    return !mayMove;
  });
  return kept.length === Object.keys(proofs).length ? proofs : Object.fromEntries(kept);
}

/** A person's word about a commit that a role has already judged does not hide who judged it. */
function isKnown(before: Proof | undefined, { role, commit }: Proof): boolean {
  return before !== undefined && role === "human" && before.commit === commit;
}

/** Notes in the task what a decision did to the evidence that promises ask for. */
export function noteProofs(workflow: Workflow, before: Task, decision: Decision, facts: Facts): Decision {
  if (decision.kind !== "moved" && decision.kind !== "stayed") return decision;
  let proofs = freshProofs(workflow, before, facts);
  for (const wanted of evidenceWanted(workflow)) {
    const change = changeOf(workflow, wanted, before, decision.events, facts);
    if (change === "withdrawn" && proofs?.[wanted.key] !== undefined)
      proofs = Object.fromEntries(Object.entries(proofs).filter(([key]) => key !== wanted.key));
    else if (change !== undefined && change !== "withdrawn" && !isKnown(proofs?.[wanted.key], change))
      proofs = { ...proofs, [wanted.key]: change };
  }
  const last = decision.events.at(-1);
  if (proofs === before.proofs || last === undefined) return decision;
  const noted = { ...last, set: { ...last.set, proofs } } as TaskEvent;
  return {
    ...decision,
    task: { ...decision.task, proofs },
    events: [...decision.events.slice(0, -1), noted],
  };
}
