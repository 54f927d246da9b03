import { oneLine } from "../text.ts";
import { branchNameProblem } from "./branch-name.ts";
import { type Budget, budgetKinds } from "./budget.ts";
import { apply, type Decision, type Reason, type TaskEvent } from "./decision.ts";
import { startDraft, startRun } from "./draft.ts";
import { arrive, moveCounters, stateOf, takesWorkspace, withWorkspace } from "./enter.ts";
import { noWorkspace } from "./gate.ts";
import { settingProblem } from "./language/read-settings.ts";
import { modelsProblem } from "./model-tiers.ts";
import { rejected, standing } from "./move.ts";
import { startOf } from "./persons-turn.ts";
import type { Actor, Facts } from "./request.ts";
import {
  noProgress,
  type Part,
  type SettingsEdit,
  type Task,
  type TaskEdit,
  type TaskIdentity,
  type Tested,
} from "./task.ts";
import type { Settings, Way, Workflow } from "./workflow.ts";

export interface Creation extends TaskIdentity {
  /** Where to start; undefined for the workflow's own choice. */
  readonly status?: string;
  readonly preset?: string;
  readonly settings?: Settings;
  /** Who creates it; a person where it is missing. */
  readonly by?: "human" | "engine";
}

/**
 * Creates a task. A task that starts in another state than the first performs the hooks of the way there; where there
 * is no such way, the engine acquires a workspace and starts the state's agent.
 */
export function createTask(workflow: Workflow, creation: Creation, facts: Facts): Decision {
  const { status: asked, preset = "", settings = {}, by = "human", ...given } = creation;
  const identity = { ...given, ...inOneLine(given) };
  const first = workflow.initial[0] ?? "";
  const status = asked ?? (identity.summary.trim() === "" ? workflow.unclear : first);
  const refusal = creationProblem(workflow, status, preset, settings);
  if (refusal !== undefined) return rejected(refusal);

  const blank = blankTask(workflow, identity, first, preset, settings);
  const state = stateOf(workflow, status);
  const draft = startDraft(workflow, blank, status);
  const direct = status === first ? { hooks: [] } : workflow.states[first]?.out[status]?.[0];
  const set =
    direct === undefined ? arriveDirectly(draft, status, workflow, facts) : arrive(draft, state, direct, facts, true);
  const event: TaskEvent = {
    type: "task.created",
    by,
    data: { status, workflow: identity.workflow, ...partData(identity) },
    set: { ...blank, ...set, previousStatus: "" },
  };
  const created: Decision = { kind: "moved", task: apply(blank, event), events: [event], effects: draft.effects };
  // A task in the first state waits there for its workspace. To start elsewhere is refused while no workspace is free.
  if (facts.poolFull && status !== first && takesWorkspace(draft.effects, facts)) return rejected(noWorkspace);
  return withWorkspace(workflow, created, facts);
}

function partData({ parent, part }: TaskIdentity): { parent?: string; item?: string; try?: number } {
  return part === undefined ? {} : { parent, item: part.item, try: part.try };
}

function arriveDirectly(
  draft: ReturnType<typeof startDraft>,
  status: string,
  workflow: Workflow,
  facts: Facts,
): Partial<Task> {
  const state = stateOf(workflow, status);
  // Counters move as on an ordinary arrival: a reviewer that is started this way is round 1.
  const usual: Way | undefined = workflow.ways.find((way) => way.to === status && way.implied === undefined);
  draft.effects.push({ action: "acquire_workspace", params: {} });
  moveCounters(draft, usual?.hooks ?? []);
  if (state.respawn !== undefined && state.wait.kind === "open") startRun(draft, state.respawn);
  return arrive(draft, state, { hooks: [] }, facts, true);
}

function creationProblem(workflow: Workflow, status: string, preset: string, settings: Settings) {
  if (workflow.states[status] === undefined) {
    return {
      code: "no-such-state" as const,
      text: `The workflow "${workflow.name}" has no state "${status}".`,
      fix: `Start in ${workflow.initial.join(", ")}.`,
    };
  }
  if (!workflow.initial.includes(status) && status !== workflow.unclear) {
    return {
      code: "not-allowed" as const,
      text: `No task can start in "${status}".`,
      fix: `Start in ${workflow.initial.join(", ")}.`,
    };
  }
  return choiceProblem(workflow, preset, settings);
}

/** Why a task cannot have a preset and settings. */
export function choiceProblem(workflow: Workflow, preset: string, settings: Settings): Reason | undefined {
  if (preset !== "" && !Object.hasOwn(workflow.presets, preset)) {
    const known = Object.keys(workflow.presets);
    return {
      code: "bad-value" as const,
      text: `There is no preset "${preset}".`,
      fix: known.length > 0 ? `Presets: ${known.join(", ")}.` : "This workflow has none.",
    };
  }
  for (const [name, value] of Object.entries(settings)) {
    const setting = Object.hasOwn(workflow.settings, name) ? workflow.settings[name] : undefined;
    const text =
      setting === undefined
        ? `There is no setting "${name}".`
        : (settingProblem(name, setting, value) ?? modelsProblem(workflow, name, value));
    if (text !== undefined)
      return {
        code: "bad-value" as const,
        text,
        fix: `Settings: ${Object.keys(workflow.settings).join(", ") || "this workflow has none"}.`,
      };
  }
  return undefined;
}

function blankTask(
  workflow: Workflow,
  identity: TaskIdentity,
  first: string,
  preset: string,
  settings: Settings,
): Task {
  return {
    ...identity,
    workflowHash: workflow.hash,
    preset,
    settings,
    status: first,
    previousStatus: "",
    entry: 0,
    phase: "entering",
    counters: {},
    crashCount: 0,
    visits: {},
    runs: {},
    sessions: {},
    runCount: 0,
    spent: { sections: [], head: "" },
    results: {},
    wait: noProgress,
    attended: false,
    held: undefined,
    reason: "",
    log: [],
    judged: undefined,
  };
}

/** The prompts tell agents to name the branch and to improve the summary; only a person changes the rest. */
const forAgents: readonly (keyof TaskEdit)[] = ["summary", "branch"];
/**
 * Only the engine knows the workspace, the terminal session, the pull request, what the work has changed, and which part of
 * its parent's plan the task is.
 */
const forEngine: readonly (keyof TaskEdit)[] = [
  "workspace",
  "prUrl",
  "tmuxSession",
  "protectedChanges",
  "tested",
  "part",
  "parent",
];

export function edit(workflow: Workflow, task: Task, actor: Actor, given: TaskEdit): Decision {
  const { settings, ...rest } = given;
  const merged = settings && withSettings(task.settings, settings);
  const set = { ...rest, ...inOneLine(given), ...(merged && { settings: merged }) };
  // The engine may edit an ended task too: it releases the workspace after the end.
  const refusal =
    actor.role === "engine"
      ? undefined
      : standing({ ...stateOf(workflow, task.status), wait: { kind: "none" } }, task, actor);
  if (refusal !== undefined) return rejected(refusal);
  const changed = Object.entries(set).filter(([key, value]) => !isSame(task[key as keyof TaskEdit], value, key));
  const isAgent = actor.role !== "human" && actor.role !== "engine";
  const foreign = changed.filter(([key]) => isAgent && !forAgents.includes(key as keyof TaskEdit));
  if (foreign.length > 0) {
    const text = `Only a person can change ${foreign.map(([key]) => key).join(", ")}.`;
    return rejected({ code: "only-human", text, fix: `You can change ${forAgents.join(" and ")}.` });
  }
  // Judges decide about the work of others, and must not choose what that work is.
  if (workflow.judges.includes(actor.role) && changed.some(([key]) => key === "branch")) {
    const text = `${actor.role} judges the work, and cannot change its branch.`;
    return rejected({ code: "not-allowed", text, fix: "Say in your verdict which branch it should be." });
  }
  if (actor.role !== "engine" && changed.some(([key]) => forEngine.includes(key as keyof TaskEdit))) {
    const text = `Only the engine can change ${forEngine.join(" and ")}.`;
    return rejected({ code: "not-allowed", text, fix: "Nothing needs to be done." });
  }
  const problem = set.branch === undefined ? undefined : branchNameProblem(set.branch);
  if (problem !== undefined) return rejected({ code: "bad-value", text: problem, fix: "Choose another name." });
  const chosen = { ...merged, ...unknownSettings(workflow, task, settings) };
  const choice = choiceProblem(workflow, set.preset ?? "", chosen);
  if (choice !== undefined) return rejected(choice);
  if (changed.length === 0) return { kind: "ignored", why: "Nothing would change." };
  if (set.tested !== undefined) return testsEnded(task, set.tested);
  if (set.part?.slot !== undefined && set.part.slot !== task.part?.slot) return startPart(task, set.part);
  const event: TaskEvent = {
    type: "task.edited",
    by: actor.role,
    data: { changed: changed.map(([key]) => key), ...valuesOf(changed, given) },
    set: { ...Object.fromEntries(changed), ...withoutSlot(workflow, task, set) },
  };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

/** A task's settings after a change of some of them. */
export function withSettings(before: Settings, given: SettingsEdit): Settings {
  const kept = Object.entries({ ...before, ...given }).filter(([, value]) => value !== null);
  return Object.fromEntries(kept) as Settings;
}

/** The settings that are to be taken back, although neither the workflow nor the task has them: refused like wrong values. */
function unknownSettings(workflow: Workflow, task: Task, given: SettingsEdit = {}): Settings {
  const isUnknown = (name: string) => !Object.hasOwn(workflow.settings, name) && !Object.hasOwn(task.settings, name);
  const names = Object.entries(given).filter(([name, value]) => value === null && isUnknown(name));
  return Object.fromEntries(names.map(([name]) => [name, ""]));
}

/** For the history: what a person has chosen, in the fields that choose among the variants of the workflow. */
function valuesOf(changed: readonly (readonly [string, unknown])[], { model, preset, settings }: TaskEdit) {
  const values = Object.entries({ model, preset, settings }).filter(([key]) => changed.some(([name]) => name === key));
  return values.length === 0 ? {} : { values: Object.fromEntries(values) };
}

/** A part that is given dependencies before it starts gives its slot back: its parent lets it start once they are met. */
function withoutSlot(workflow: Workflow, task: Task, { dependsOn }: TaskEdit): Pick<Partial<Task>, "part"> {
  const { part, phase, status } = task;
  const isUnstarted = phase === "waiting" && status === workflow.initial[0] && startOf(workflow, task) !== undefined;
  if (dependsOn === undefined || part?.slot === undefined || !isUnstarted) return {};
  const { slot: _, ...rest } = part;
  return { part: rest };
}

/** The engine's own tests have run. */
function testsEnded(task: Task, tested: Tested): Decision {
  const { commit, word } = tested;
  const event: TaskEvent = { type: "tests.ended", by: "engine", data: { commit, word }, set: { tested } };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

/** The parent lets a part start. */
function startPart(task: Task, part: Part): Decision {
  const { item, slot } = part;
  const event: TaskEvent = { type: "part.started", by: "engine", data: { item, try: part.try, slot }, set: { part } };
  return { kind: "stayed", task: apply(task, event), events: [event], effects: [] };
}

/**
 * A summary and a label are shown in lists, commits and prompts, so they are one line each: line breaks become spaces,
 * and control characters, escape sequences and invisible characters are removed.
 */
function inOneLine({ summary, labels }: TaskEdit): TaskEdit {
  return {
    ...(summary === undefined ? {} : { summary: oneLine(summary) }),
    ...(labels === undefined ? {} : { labels: [...new Set(labels.map((label) => oneLine(label)))].filter(Boolean) }),
  };
}

function isSame(a: unknown, b: unknown, key: string): boolean {
  if (key === "settings") return JSON.stringify(a) === JSON.stringify(b);
  if (key === "budget") return budgetKinds.every((kind) => (a as Budget | undefined)?.[kind] === (b as Budget)[kind]);
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((each, i) => each === b[i]);
  return a === b;
}
