import { apply, type Decision, type Reason, type TaskEvent } from "./decision.ts";
import { type Draft, endRun, startDraft } from "./draft.ts";
import { arrive, leave, withWorkspace } from "./enter.ts";
import { settingProblem } from "./language/read-settings.ts";
import { rejected } from "./move.ts";
import type { Actor, Facts } from "./request.ts";
import type { Task } from "./task.ts";
import { writeGuard } from "./when.ts";
import type { Settings, State, Way, Workflow } from "./workflow.ts";

/** The consequences of moving a task to another version of its workflow. */
export interface Migration {
  readonly isSame: boolean;
  readonly states: Change;
  /** As `from → to`. */
  readonly ways: Change;
  readonly prompts: Change;
  /** The states that the task may be put into; the first is the default. */
  readonly targets: readonly string[];
  /** Settings of the task that the new version does not accept. */
  readonly droppedSettings: readonly string[];
}

export interface Change {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Compares two versions for a task. A task is pinned to the content it was created with; only a person moves it. */
export function planMigration(from: Workflow, to: Workflow, task: Task): Migration {
  const open = Object.values(to.states).filter((state) => !state.terminal);
  const same = open.find((state) => state.name === task.status);
  const others = open.filter((state) => state !== same).map((state) => state.name);
  return {
    isSame: from.hash === to.hash,
    states: compare(mapValues(from.states, describeState), mapValues(to.states, describeState)),
    ways: compare(waysOf(from), waysOf(to)),
    prompts: compare(from.prompts, to.prompts),
    targets: same === undefined ? others : [same.name, ...others],
    droppedSettings: Object.entries(task.settings).flatMap(([name, value]) =>
      takesSetting(to, name, value) ? [] : [name],
    ),
  };
}

/** Puts a task under another version of its workflow, in the state `target` or in its present one. */
export function migrate(
  from: Workflow,
  to: Workflow,
  task: Task,
  actor: Actor,
  facts: Facts,
  target?: string,
): Decision {
  const refusal = problemWith(from, to, task, actor, target);
  if (refusal !== undefined) return rejected(refusal);
  const plan = planMigration(from, to, task);
  const state = to.states[target ?? task.status];
  if (state === undefined) return rejected(noTarget(plan, target ?? task.status));

  const settings: Settings = Object.fromEntries(
    Object.entries(task.settings).filter(([name]) => !plan.droppedSettings.includes(name)),
  );
  const preset = to.presets[task.preset] === undefined ? "" : task.preset;
  const draft = startDraft(to, { ...task, settings, preset }, state.name);
  for (const name of Object.keys(draft.runs)) if (!isOf(to, name)) endRun(draft, name);
  const stays = canStay(from, state, task, draft);
  const before = from.states[task.status];
  if (!stays && before !== undefined) leave(draft, before);
  const set = stays
    ? { runs: draft.runs, sessions: draft.sessions, visits: atLeastOnce(state, task.visits) }
    : arrive(draft, state, { hooks: [] }, facts, true);
  const event: TaskEvent = {
    type: "task.migrated",
    by: actor.role,
    data: { from: from.hash, to: to.hash, status: state.name },
    set: { ...set, workflowHash: to.hash, settings, preset },
  };
  const decision: Decision = {
    kind: state.name === task.status ? "stayed" : "moved",
    task: apply(task, event),
    events: [event],
    effects: draft.effects,
  };
  return withWorkspace(to, decision, facts);
}

function problemWith(
  from: Workflow,
  to: Workflow,
  task: Task,
  actor: Actor,
  target: string | undefined,
): Reason | undefined {
  if (actor.role !== "human")
    return { code: "only-human", text: "Only a person can migrate a task.", fix: "Wait for the person." };
  if (from.states[task.status]?.terminal) {
    return {
      code: "terminal",
      text: `The task is in "${task.status}", which is the end.`,
      fix: "Nothing needs to be done.",
    };
  }
  if (to.states[target ?? task.status]?.terminal) {
    const text = `"${target ?? task.status}" is terminal; a task cannot be put there.`;
    return { code: "not-allowed", text, fix: "Name a state that is not terminal." };
  }
  return undefined;
}

function noTarget(plan: Migration, status: string): Reason {
  return {
    code: "no-such-state",
    text: `The new version has no state "${status}".`,
    fix: `Put the task in one of ${plan.targets.join(", ")}.`,
  };
}

/** Whether the wait can continue: the state waits for the same thing, and all of the task's runs are kept. */
function canStay(from: Workflow, state: State, task: Task, draft: Draft): boolean {
  const before = from.states[task.status];
  if (state.name !== task.status || before?.wait.kind !== state.wait.kind) return false;
  const [was, is] = [before.wait, state.wait].map((wait) =>
    wait.kind === "agent" || wait.kind === "human" ? (wait.run?.role ?? "") : wait.kind,
  );
  return was === is && Object.keys(draft.runs).length === Object.keys(task.runs).length;
}

/** The new version may read visits of a state for which the old version did not count them. */
function atLeastOnce(state: State, visits: Task["visits"]): Task["visits"] {
  return state.countsVisits && visits[state.name] === undefined ? { ...visits, [state.name]: 1 } : visits;
}

function isOf(workflow: Workflow, name: string): boolean {
  const role = name.split("/")[0] ?? name;
  const hooks = workflow.ways.flatMap((way) => way.hooks);
  const waits = Object.values(workflow.states).map((state) => state.wait);
  const panels = waits.filter((wait) => wait.kind === "panel");
  return (
    panels.some((wait) => wait.member.role === role || wait.judge.role === role) ||
    Object.hasOwn(workflow.roles, role) ||
    hooks.some((hook) => hook.run?.role === role) ||
    waits.some((wait) => (wait.kind === "agent" || wait.kind === "human") && wait.run?.role === role)
  );
}

function takesSetting(workflow: Workflow, name: string, value: unknown): boolean {
  const setting = workflow.settings[name];
  return setting !== undefined && settingProblem(name, setting, value) === undefined;
}

function waysOf(workflow: Workflow): Readonly<Record<string, string>> {
  const ways: Record<string, string> = {};
  for (const way of workflow.ways) {
    const key = `${way.from} → ${way.to}`;
    ways[key] = `${ways[key] ?? ""}${describeWay(way)}\n`;
  }
  return ways;
}

function describeWay(way: Way): string {
  return JSON.stringify([way.by, way.when.map(writeGuard), way.gates, way.hooks, way.implied]);
}

function describeState(state: State): string {
  const { out: _, ...rest } = state;
  return JSON.stringify(rest);
}

function mapValues<T>(
  record: Readonly<Record<string, T>>,
  describe: (value: T) => string,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, describe(value)]));
}

function compare(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>): Change {
  const names = Object.keys(before);
  return {
    added: Object.keys(after).filter((name) => !Object.hasOwn(before, name)),
    removed: names.filter((name) => !Object.hasOwn(after, name)),
    changed: names.filter((name) => Object.hasOwn(after, name) && before[name] !== after[name]),
  };
}
