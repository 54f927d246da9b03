import type { Decision, TaskEvent } from "./decision.ts";
import { stateOf } from "./enter.ts";
import { givenCommit } from "./judging.ts";
import type { Facts } from "./request.ts";
import { matches } from "./take-rule.ts";
import type { Proof, Task } from "./task.ts";
import type { Action, AuthorsPromise, Gate, PromisedEvidence, RunSpec, State, Workflow } from "./workflow.ts";

// What happened to a task of that which promises ask for. Decisions note it in the task; `verify` asks the same functions.

/** A decision that changes the task. */
export type Changing = Extract<Decision, { kind: "moved" | "stayed" }>;

/** What one event does to the evidence: gives it, takes it back, or neither. */
export type Change = Proof | "withdrawn" | undefined;

/** The promises of a workflow, sorted by what has to be looked at. Every decision asks, so each workflow is sorted once. */
interface SortedPromises {
  /** The evidence that promises ask for, each once. */
  readonly wanted: readonly PromisedEvidence[];
  readonly aboutRuns: readonly AuthorsPromise[];
  /** By state: the promises that a move to it can break, in the order of the file. Those about runs are among them. */
  readonly aboutStates: ReadonlyMap<string, readonly AuthorsPromise[]>;
}

/** The promises that a decision can break: one that moves the task to `to`, or does not move it. */
export function promisesToCheck(workflow: Workflow, to: string | undefined): readonly AuthorsPromise[] {
  const { aboutRuns, aboutStates } = sortedPromises(workflow);
  return (to === undefined ? undefined : aboutStates.get(to)) ?? aboutRuns;
}

let lastSorted: { readonly workflow: Workflow; readonly sorted: SortedPromises } | undefined;
const sortedOf = new WeakMap<Workflow, SortedPromises>();

function sortedPromises(workflow: Workflow): SortedPromises {
  if (lastSorted?.workflow === workflow) return lastSorted.sorted;
  const sorted = sortedOf.get(workflow) ?? sortPromises(workflow);
  sortedOf.set(workflow, sorted);
  lastSorted = { workflow, sorted };
  return sorted;
}

function sortPromises({ promises }: Workflow): SortedPromises {
  const wanted = new Map<string, PromisedEvidence>();
  for (const promise of promises) if (promise.kind === "after") wanted.set(promise.evidence.key, promise.evidence);
  const isAboutRuns = ({ kind }: AuthorsPromise) => kind === "never_same_run_as";
  const targetOf = (promise: AuthorsPromise) =>
    promise.kind === "never_same_run_as" ? [] : [promise.kind === "within" ? promise.of : promise.to];
  const about = (to: string) => promises.filter((each) => isAboutRuns(each) || targetOf(each).includes(to));
  return {
    wanted: [...wanted.values()],
    aboutRuns: promises.filter(isAboutRuns),
    aboutStates: new Map(promises.flatMap(targetOf).map((to) => [to, about(to)])),
  };
}

/** What a decision did, as far as promises look at it. */
export interface Deed {
  readonly workflow: Workflow;
  /** The task before it. */
  readonly before: Task;
  /** The state that the task was in. */
  readonly state: State;
  readonly events: readonly TaskEvent[];
  /** The move, if it moved the task. */
  readonly move: TaskEvent | undefined;
  /** The gates of the ways that the move may have taken; none where it passed none. */
  readonly gates: readonly Gate[];
  readonly facts: Facts;
}

export function deedOf(workflow: Workflow, before: Task, events: readonly TaskEvent[], facts: Facts): Deed {
  const state = stateOf(workflow, before.status);
  const move = events.find(({ type }) => type === "task.moved");
  return {
    workflow,
    before,
    state,
    events,
    move,
    gates: move === undefined ? noGates : gatesPassed(state, move),
    facts,
  };
}

function gatesPassed({ out }: State, { data }: TaskEvent): readonly Gate[] {
  // Most moves pass no gate.
  if (!Array.isArray(data.evidence) || data.evidence.length === 0) return noGates;
  const ways = out[String(data.to)];
  if (ways === undefined) return noGates;
  return ways.length === 1 && ways[0] !== undefined ? ways[0].gates : ways.flatMap(({ gates }) => gates);
}

const noGates: readonly Gate[] = [];

/** What a decision does to the evidence, its last word counting. */
export function changeOf(deed: Deed, wanted: PromisedEvidence): Change {
  let change: Change;
  for (const event of deed.events) change = changeBy(deed, wanted, event) ?? change;
  return change;
}

function changeBy(deed: Deed, wanted: PromisedEvidence, event: TaskEvent): Change {
  switch (wanted.kind) {
    case "merged":
      return merged(deed, event);
    case "tests":
      return tested(deed, event);
    case "gate":
      return personsWord(deed, wanted.by, event) ?? (event === deed.move ? passed(deed, wanted) : undefined);
    case "result":
      return personsWord(deed, wanted.by, event) ?? answered(deed, wanted, event);
  }
}

function merged({ state, facts: { numbers, head } }: Deed, event: TaskEvent): Change {
  const isSeen = event.type === "task.moved" && numbers.merged === 1;
  const isDone = event.type === "task.worked" && event.data.word === "ok" && lastOf(state.do, mergesTask);
  return isSeen || isDone ? { role: "engine", commit: head } : undefined;
}

function tested({ state, before, facts }: Deed, event: TaskEvent): Change {
  const { do: work } = state;
  const { tested: record } = before;
  if (event.type !== "task.worked" || !work.some(runsTests)) return undefined;
  const { word } = event.data;
  if (word === "tests" || word === "untested") return "withdrawn";
  if (word !== "ok" || !lastOf(work, runsTests) || (record?.word ?? "ok") !== "ok") return undefined;
  return { role: "engine", commit: record?.commit ?? facts.head };
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
  { state, facts }: Deed,
  by: readonly string[] | undefined,
  { type, by: who, data }: TaskEvent,
): Change {
  if (who !== "human" || !by?.includes("human")) return undefined;
  const isMove = type === "task.moved" && data.cause === "asked";
  const isYes = type === "task.continued" && state.wait.kind === "human";
  return isMove || isYes ? { role: "human", commit: facts.head } : undefined;
}

function passed(
  { workflow, gates, facts }: Deed,
  { section, verdict, by }: Extract<PromisedEvidence, { kind: "gate" }>,
): Change {
  let isPassed = false;
  for (const gate of gates) {
    if (gate.section !== section) continue;
    // Where another way to the same state asks for another verdict, the event does not say which one it was.
    if (verdict !== undefined && gate.verdict !== verdict) return "withdrawn";
    isPassed = true;
  }
  if (!isPassed) return undefined;
  const writers = writersOf(workflow, section, facts);
  // A person may write every section, in the place of the role that owns it.
  const counts = by === undefined || writers.every((role) => role === "human" || by.includes(role));
  return counts ? { role: writers[0] ?? "", commit: facts.head } : undefined;
}

/** Who wrote a section or, where that is not known, everybody who may have. */
function writersOf({ owners, roles }: Workflow, section: string, { artifacts }: Facts): readonly string[] {
  const known = Object.hasOwn(artifacts, section) ? artifacts[section]?.role : undefined;
  if (known !== undefined) return [known];
  const named = owners[section] ?? [];
  return named.length > 0 ? named : Object.keys(roles);
}

function answered(
  { workflow, state, before, facts }: Deed,
  { fields, by }: Extract<PromisedEvidence, { kind: "result" }>,
  event: TaskEvent,
): Change {
  const run = answeredBy(state, before, event);
  if (run?.result === undefined || (by !== undefined && !by.includes(run.role))) return undefined;
  const { properties = {} } = workflow.schemas[run.result] ?? {};
  if (!Object.keys(fields).every((field) => Object.hasOwn(properties, field))) return undefined;
  if (!matches(fields, event.set.results?.[run.result])) return "withdrawn";
  return { role: run.role, commit: facts.head || givenCommit(before) };
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
  { workflow, before, state, events, gates, facts }: Deed,
  { role, other }: Extract<AuthorsPromise, { kind: "never_same_run_as" }>,
): boolean {
  for (const { section, verdict } of gates) {
    const isForRole = verdict !== undefined && workflow.owners[section]?.includes(role) === true;
    if (isForRole && writersOf(workflow, section, facts).includes(other)) return true;
  }
  for (const event of events) {
    const run = answeredBy(state, before, event);
    if (run?.role === other && run.result !== undefined && answersOf(workflow, role).has(run.result)) return true;
  }
  return false;
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
  const isFresh = (commit: string) => {
    if (commit !== "" && head !== "") return commit === head;
    mayMove ??= mayCommit(workflow, task);
    return !mayMove;
  };
  for (const key in proofs)
    if (!isFresh(proofs[key]?.commit ?? ""))
      return Object.fromEntries(Object.entries(proofs).filter(([, { commit }]) => isFresh(commit)));
  return proofs;
}

/** A person's word about a commit that a role has already judged does not hide who judged it. */
function isKnown(before: Proof | undefined, { role, commit }: Proof): boolean {
  return before !== undefined && role === "human" && before.commit === commit;
}

/** Notes in the task what a decision did to the evidence that promises ask for. */
export function noteProofs(deed: Deed, decision: Changing): Changing {
  const { workflow, before, facts } = deed;
  let proofs = freshProofs(workflow, before, facts);
  for (const wanted of sortedPromises(workflow).wanted) {
    const change = changeOf(deed, wanted);
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
