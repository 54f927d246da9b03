import { type Arrival, apply, type Decision, type TaskEvent } from "./decision.ts";
import { type Draft, endRun, endRuns, startDraft } from "./draft.ts";
import { addEffects, moveCounters } from "./hooks.ts";
import type { Facts } from "./request.ts";
import { panelSize, startWait } from "./start-wait.ts";
import { type Member, noProgress, type Task, type WaitProgress } from "./task.ts";
import { allHold } from "./when.ts";
import type { State, Way, Workflow } from "./workflow.ts";

/**
 * Moves a task along a way that is open. Runs that are not kept end first, then come the hooks, then the new state's wait.
 * `by` is `human`, `engine` or a role; `cause` says what made the task move: `asked`, `rule 2`, `escalated`, …
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
  const event: TaskEvent = {
    type: "task.moved",
    by,
    data:
      way.gates.length === 0
        ? { from: task.status, to: way.to, cause }
        : { from: task.status, to: way.to, cause, evidence: way.gates.map((gate) => gate.section) },
    set: reason === "" ? set : { ...set, reason },
  };
  return { kind: "moved", task: apply(task, event), events: [event], effects: draft.effects };
}

/** Performs a way's hooks and begins the state's wait; gives what changes in the task. */
export function arrive(draft: Draft, state: State, way: Pick<Way, "hooks">, facts: Facts, byPerson: boolean): Arrival {
  const { workflow, task } = draft;
  moveCounters(draft, way.hooks);
  addEffects(draft, state, way.hooks);
  const visits = visitsAfter(task, state, byPerson);
  const skipped =
    state.unless.length > 0 &&
    allHold(state.unless, workflow, { ...task, counters: draft.counters, visits, status: state.name }, facts);
  if (state.terminal) {
    // No agent outlives its task, whether or not the file says so.
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
    // From here on only something newer counts.
    spent: { sections: facts.document.fingerprints, head: facts.head },
    wait: progressAtStart(draft, state, skipped),
    attended: false,
    held: undefined,
  };
}

/** Entries are counted only where a condition asks for them; a person's move starts the count anew. */
function visitsAfter(task: Task, state: State, byPerson: boolean): Task["visits"] {
  const before = byPerson ? noVisits : task.visits;
  return state.countsVisits ? { ...before, [state.name]: (before[state.name] ?? 0) + 1 } : before;
}

const noVisits: Task["visits"] = {};

/** The count after a person had a hand in the task without moving it. */
export function restarted(state: State): Task["visits"] {
  return state.countsVisits ? { [state.name]: 1 } : noVisits;
}

/** Nobody will start them any more. A start may have failed half-way, so they are ended like others. */
function endUnstarted(draft: Draft, { unstarted = [] }: Facts): void {
  for (const [name, { key }] of Object.entries(draft.runs)) if (unstarted.includes(key)) endRun(draft, name, true);
}

/** Ends what only the old state needed. */
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
  // A task is pinned to the workflow that knows its state; anything else is a bug of the caller.
  if (state === undefined) throw new RangeError(`The workflow "${workflow.name}" has no state "${name}".`);
  return state;
}
