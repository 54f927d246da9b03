import { apply, type Decision, type TaskEvent } from "./decision.ts";
import { type Draft, endRun, startDraft } from "./draft.ts";
import { addEffects, moveCounters } from "./hooks.ts";
import type { Facts } from "./request.ts";
import { panelSize, startWait } from "./start-wait.ts";
import { type Member, noProgress, type Spent, type Task, type WaitProgress } from "./task.ts";
import { allHold } from "./when.ts";
import type { State, Way, Workflow } from "./workflow.ts";

export interface Cause {
  /** `human`, `engine` or a role. */
  readonly by: string;
  /** What made the task move: `asked`, `rule 2`, `next`, `escalated`, … */
  readonly why: string;
}

/** Moves a task along a way that is open. Runs that are not kept end first, then come the hooks, then the new state's wait. */
export function enter(workflow: Workflow, task: Task, way: Way, cause: Cause, facts: Facts): Decision {
  const state = stateOf(workflow, way.to);
  const draft = startDraft(workflow, task, way.to);
  leave(draft, stateOf(workflow, task.status));
  const set = arrive(draft, state, way, facts, cause.by === "human");
  const event: TaskEvent = {
    type: "task.moved",
    by: cause.by,
    data: { from: task.status, to: way.to, cause: cause.why },
    set,
  };
  return { kind: "moved", task: apply(task, event), events: [event], effects: draft.effects };
}

/** Performs a way's hooks and begins the state's wait; gives what changes in the task. */
export function arrive(
  draft: Draft,
  state: State,
  way: Pick<Way, "hooks">,
  facts: Facts,
  byPerson: boolean,
): Partial<Task> {
  const { workflow, task } = draft;
  moveCounters(draft, way.hooks);
  addEffects(draft, state, way.hooks);
  const visits = byPerson ? { [state.name]: 1 } : { ...task.visits, [state.name]: (task.visits[state.name] ?? 0) + 1 };
  const skipped =
    state.unless.length > 0 &&
    allHold(state.unless, workflow, { ...task, counters: draft.counters, visits, status: state.name }, facts);
  if (state.terminal) addEffects(draft, state, state.do);
  else if (!skipped) startWait(draft, state);
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
    spent: spend(workflow, facts),
    wait: progressAtStart(draft, state, skipped),
    attended: false,
    held: undefined,
  };
}

/** Ends what only the old state needed. */
function leave(draft: Draft, state: State): void {
  const { wait } = state;
  if ((wait.kind === "agent" || wait.kind === "human") && wait.run !== undefined) {
    if (!wait.run.keep) endRun(draft, wait.run.role);
  } else if (wait.kind === "panel") {
    for (const name of Object.keys(draft.runs)) {
      if (name.startsWith(`${wait.member.role}/`) || name === wait.judge.role) endRun(draft, name);
    }
  } else if (wait.kind === "fan_out" && draft.task.phase !== "doing" && draft.task.wait.turn === undefined) {
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

/** What the evidence looks like now: from here on only something newer counts. */
function spend(workflow: Workflow, facts: Facts): Spent {
  const sections: Record<string, string> = {};
  for (const name of workflow.sections) {
    const section = facts.document.byHeading.get(name);
    if (section !== undefined) sections[name] = section.fingerprint;
  }
  return { sections, head: facts.head };
}

export function stateOf(workflow: Workflow, name: string): State {
  const state = workflow.states[name];
  // A task is pinned to the workflow that knows its state; anything else is a bug of the caller.
  if (state === undefined) throw new RangeError(`The workflow "${workflow.name}" has no state "${name}".`);
  return state;
}
