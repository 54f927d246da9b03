import { actions } from "./actions.ts";
import { type Arrival, apply, type Decision, type Effect, type EventData, type TaskEvent } from "./decision.ts";
import { type Draft, endRun, endRuns, panelSize, startDraft, startRun, tellRun } from "./draft.ts";
import { judgedBy } from "./judging.ts";
import type { Facts } from "./request.ts";
import { specOf } from "./run-spec.ts";
import { type Member, noProgress, type Task, type WaitProgress } from "./task.ts";
import { allHold } from "./when.ts";
import type { Action, RunSpec, State, Way, Workflow } from "./workflow.ts";

/**
 * Moves a task along an open way. First runs that are not kept end, then come the hooks, then the new state's wait.
 * `by` is `human`, `engine` or a role; `cause` says why the task moved: `asked`, `rule 2`, `escalated`, …
 */
export function enter(
  workflow: Workflow,
  task: Task,
  way: Way,
  by: string,
  cause: string,
  facts: Facts,
  reason = "",
): Decision {
  const state = stateOf(workflow, way.to);
  const draft = startDraft(workflow, task, way.to);
  endUnstarted(draft, facts);
  leave(draft, stateOf(workflow, task.status));
  const set = arrive(draft, state, way, facts, by === "human");
  const judged = judgedBy(workflow, way, by, facts);
  // Assigned, because a copy of all fields takes as long as half of the decision.
  if (reason !== "") set.reason = reason;
  if (judged !== undefined) set.judged = judged;
  const data: Moved =
    way.gates.length === 0
      ? { from: task.status, to: way.to, cause }
      : { from: task.status, to: way.to, cause, evidence: way.gates.map(({ section }) => section) };
  // The event before says why something ended.
  if (reason !== "" && reason !== task.reason) data.reason = reason;
  const event: TaskEvent = { type: "task.moved", by, data, set };
  return { kind: "moved", task: apply(task, event), events: [event], effects: draft.effects };
}

type Moved = { -readonly [Key in keyof EventData<"task.moved">]: EventData<"task.moved">[Key] };
type Arriving = { -readonly [Key in keyof Arrival]: Arrival[Key] };

/** Turns a way's hooks into effects and begins the state's wait; returns the changes of the task. */
export function arrive(draft: Draft, state: State, way: Pick<Way, "hooks">, facts: Facts, byPerson: boolean): Arriving {
  const { workflow, task } = draft;
  moveCounters(draft, way.hooks);
  addEffects(draft, state, way.hooks);
  const visits = visitsAfter(task, state, byPerson);
  const skipped =
    state.unless.length > 0 &&
    allHold(state.unless, workflow, { ...task, counters: draft.counters, visits, status: state.name }, facts);
  if (state.terminal) {
    // No agent outlives its task, even if the file does not end it.
    endRuns(draft);
    addEffects(draft, state, state.do);
  } else if (!skipped) startWait(draft, state);
  return {
    status: state.name,
    previousStatus: task.status,
    entry: task.entry + 1,
    phase: "entering",
    counters: draft.counters,
    visits,
    runs: draft.runs,
    sessions: draft.sessions,
    runCount: draft.runCount,
    // From here on only newer evidence counts.
    spent: { sections: facts.document.fingerprints, head: facts.head },
    wait: progressAtStart(draft, state, skipped),
    attended: false,
    held: undefined,
  };
}

/** Visits are counted only where a condition reads them; a person's move resets the count. */
function visitsAfter(task: Task, state: State, byPerson: boolean): Task["visits"] {
  const before = byPerson ? noVisits : task.visits;
  return state.countsVisits ? { ...before, [state.name]: (before[state.name] ?? 0) + 1 } : before;
}

const noVisits: Task["visits"] = {};

/** The visits after a person acted on the task without moving it. */
export function restarted(state: State): Task["visits"] {
  return state.countsVisits ? { [state.name]: 1 } : noVisits;
}

/** Ends runs whose start is dropped. The start may have failed half-way, so they are ended like other runs. */
function endUnstarted(draft: Draft, { unstarted = [] }: Facts): void {
  if (unstarted.length === 0) return;
  for (const [name, { key }] of Object.entries(draft.runs)) if (unstarted.includes(key)) endRun(draft, name, true);
}

/** Ends the runs and children that only the old state needed. */
export function leave(draft: Draft, state: State): void {
  const { wait } = state;
  if ((wait.kind === "agent" || wait.kind === "human") && wait.run !== undefined) {
    if (!wait.run.keep) endRun(draft, wait.run.role);
  } else if (wait.kind === "panel") {
    for (const name of Object.keys(draft.runs)) {
      if (name.startsWith(`${wait.member.role}/`) || name === wait.judge.role) endRun(draft, name);
    }
  } else if (wait.kind === "fan_out" && !draft.task.wait.childrenOver && !draft.task.wait.skipped) {
    draft.effects.push({ action: "stop_children", params: {} });
  }
}

export function progressAtStart(
  draft: Pick<Draft, "workflow" | "task" | "stepLimit">,
  state: State,
  skipped: boolean,
): WaitProgress {
  const { wait } = state;
  const isDialogue = wait.kind === "agent" && wait.run.mode === "dialogue";
  if (!skipped && !isDialogue && draft.stepLimit === undefined && wait.kind !== "panel") return noProgress;
  const members: Record<string, Member> = {};
  if (wait.kind === "panel" && !skipped) {
    for (let i = 1; i <= panelSize(draft, wait.member); i++)
      members[`${wait.member.role}/${i}`] = { state: "running", tries: 1, answer: undefined };
  }
  return {
    ...noProgress,
    skipped,
    stepLimit: draft.stepLimit,
    turn: isDialogue && !skipped ? "agent" : undefined,
    members,
  };
}

export function stateOf(workflow: Workflow, name: string): State {
  const state = workflow.states[name];
  // A task is pinned to a workflow that has its state; anything else is a bug of the caller.
  if (state === undefined) throw new RangeError(`The workflow "${workflow.name}" has no state "${name}".`);
  return state;
}

/** Applies the counters of hooks. This comes first, so that a spawn sees the new value. */
export function moveCounters(draft: Draft, hooks: readonly Action[]): void {
  for (const { name, params } of hooks) {
    if (name === "increment") addOne(draft, String(params.field));
    else if (name === "set_field") draft.counters = { ...draft.counters, [String(params.field)]: Number(params.value) };
    else if (name === "spawn_agent" && params.increment !== undefined) addOne(draft, String(params.increment));
  }
}

function addOne(draft: Draft, field: string): void {
  draft.counters = { ...draft.counters, [field]: (draft.counters[field] ?? 0) + 1 };
}

/** Turns hooks into effects, in order. `state` is where the task will be. */
export function addEffects(draft: Draft, state: State, hooks: readonly Action[]): void {
  for (const hook of hooks) addEffect(draft, state, hook);
}

function addEffect(draft: Draft, state: State, hook: Action): void {
  switch (hook.name) {
    case "increment":
    case "set_field":
      return;
    case "spawn_agent":
      if (hook.run === undefined) return;
      // A role never has a second agent: a live one gets the prompt as a message.
      if (draft.runs[hook.run.role] !== undefined) tellRun(draft, hook.run, {});
      else startRun(draft, hook.run);
      return;
    case "kill_agent":
      endRun(draft, String(hook.params.role));
      return;
    case "kill_session":
      draft.runs = {};
      draft.sessions = {};
      draft.effects.push({ action: hook.name, params: hook.params });
      return;
    case "notify_agent":
      addNotice(draft, state, hook);
      return;
    case "release_workspace":
      // Another task gets the folder: no run may stay in it, and no session can be resumed elsewhere.
      endRuns(draft);
      draft.sessions = {};
      draft.effects.push({ action: hook.name, params: hook.params });
      return;
    default:
      draft.effects.push({ action: hook.name, params: hook.params });
  }
}

/** A live agent gets a message. A dead one is started with the message as part of its prompt. */
function addNotice(draft: Draft, state: State, { params }: Action): void {
  const role = String(params.role);
  const spec = specOf(draft.workflow, state, role);
  const prompt = params.prompt === undefined ? "" : String(params.prompt);
  const message = params.message === undefined ? "" : String(params.message);
  if (params.steps !== undefined) draft.stepLimit = Number(params.steps);
  if (draft.runs[role] !== undefined) tellRun(draft, spec, { prompt, message });
  else if (draft.sessions[role] !== undefined && spec.mode !== "session") startRun(draft, spec, { prompt, message });
  else startRun(draft, spec, { prompt: prompt || respawnPrompt(state, role) || spec.prompt, message });
}

/** A message alone lacks context, so a restarted agent gets this prompt with it. */
function respawnPrompt(state: State, role: string): string | undefined {
  return state.respawn?.role === role ? state.respawn.prompt : undefined;
}

/**
 * Begins the state's wait. A role that a hook of the same move started or told something is left alone. `again`: a person
 * has a held task try its wait again, in the same stay.
 */
export function startWait(draft: Draft, state: State, again = false): void {
  const { wait } = state;
  switch (wait.kind) {
    case "agent":
    case "human":
      if (wait.run !== undefined) startAgent(draft, state, wait.run);
      return;
    case "panel":
      for (let member = 1; member <= panelSize(draft, wait.member); member++) startRun(draft, wait.member, { member });
      return;
    case "fan_out":
      draft.effects.push({ action: "start_children", params: childrenParams(draft.task, wait.workflow, again) });
      return;
    default:
  }
}

function childrenParams({ entry }: Task, workflow: string, again: boolean): Effect["params"] {
  return again ? { workflow, stay: entry, again } : { workflow, stay: entry + 1 };
}

function startAgent(draft: Draft, state: State, run: RunSpec): void {
  if (draft.told.includes(run.role)) return;
  const isAlive = draft.runs[run.role] !== undefined;
  if (!isAlive) startRun(draft, run, { prompt: run.prompt ?? state.respawn?.prompt });
  else if (run.prompt !== undefined) tellRun(draft, run, {});
}

/**
 * Ensures that effects which need a workspace have one: where the task has none by then, the engine acquires one first,
 * even if the file does not. A task that ends releases such a workspace.
 */
export function withWorkspace(workflow: Workflow, decision: Decision, facts: Facts): Decision {
  if (decision.kind !== "moved" && decision.kind !== "stayed") return decision;
  const effects = inWorkspace(decision.effects, hasWorkspace(facts));
  if (effects === decision.effects) return decision;
  const isOver = workflow.states[decision.task.status]?.terminal === true;
  const isKept = isOver && workspaceAfter(false, effects);
  return { ...decision, effects: isKept ? [...effects, { action: "release_workspace", params: {} }] : effects };
}

/** Whether the task will have a workspace after its owed effects. */
function hasWorkspace({ willHaveWorkspace, numbers }: Pick<Facts, "willHaveWorkspace" | "numbers">): boolean {
  return willHaveWorkspace ?? numbers.workspace !== 0;
}

/** Whether these effects acquire a workspace for a task that has none. */
export function takesWorkspace(effects: readonly Effect[], facts: Facts): boolean {
  const has = hasWorkspace(facts);
  return !has && inWorkspace(effects, has).some(({ action }) => action === "acquire_workspace");
}

export function workspaceAfter(before: boolean, effects: readonly Pick<Effect, "action">[]): boolean {
  const last = effects.findLast(({ action }) => action === "acquire_workspace" || action === "release_workspace");
  return last === undefined ? before : last.action === "acquire_workspace";
}

function inWorkspace(effects: readonly Effect[], before: boolean): readonly Effect[] {
  let has = before;
  let all: Effect[] | undefined;
  for (let i = 0; i < effects.length; i++) {
    const effect = effects[i];
    if (effect === undefined) continue;
    if (!has && actions[effect.action]?.inWorkspace === "always") {
      all ??= effects.slice(0, i);
      all.push({ action: "acquire_workspace", params: {} });
      has = true;
    }
    if (effect.action === "acquire_workspace") has = true;
    else if (effect.action === "release_workspace") has = false;
    all?.push(effect);
  }
  return all ?? effects;
}
