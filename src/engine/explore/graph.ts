import { createTask } from "../create.ts";
import { workspaceAfter } from "../enter.ts";
import { blankIdentity, noProgress, type Task, type TaskIdentity, type WaitProgress } from "../task.ts";
import { resolve, settingOf } from "../when.ts";
import type { Guard, Settings, SettingValue, State, Workflow } from "../workflow.ts";
import { type Driver, driverOf, type Step } from "./step.ts";
import { stimuli } from "./stimuli.ts";
import { factsOf, takeStep, type World } from "./world.ts";

/** The strongly connected components of a graph, as a component number for each node (Tarjan, without recursion). */
export function components(size: number, targets: (node: number) => readonly number[]): readonly number[] {
  const index = new Array<number>(size).fill(-1);
  const low = new Array<number>(size).fill(0);
  const component = new Array<number>(size).fill(-1);
  const stack: number[] = [];
  const onStack = new Array<boolean>(size).fill(false);
  let counter = 0;
  let found = 0;
  for (let root = 0; root < size; root++) {
    if (index[root] !== -1) continue;
    const work: { node: number; next: number; to: readonly number[] }[] = [];
    const open = (node: number) => {
      index[node] = counter;
      low[node] = counter;
      counter++;
      stack.push(node);
      onStack[node] = true;
      work.push({ node, next: 0, to: targets(node) });
    };
    open(root);
    for (let frame = work.at(-1); frame !== undefined; frame = work.at(-1)) {
      const { node } = frame;
      const to = frame.to[frame.next++];
      if (to !== undefined) {
        if (index[to] === -1) open(to);
        else if (onStack[to]) low[node] = Math.min(low[node] ?? 0, index[to] ?? 0);
        continue;
      }
      work.pop();
      const above = work.at(-1);
      if (above !== undefined) low[above.node] = Math.min(low[above.node] ?? 0, low[node] ?? 0);
      if (low[node] !== index[node]) continue;
      for (;;) {
        const member = stack.pop();
        if (member === undefined) break;
        onStack[member] = false;
        component[member] = found;
        if (member === node) break;
      }
      found++;
    }
  }
  return component;
}

/** Every position that a task can reach, and every step between positions. */
export interface Graph {
  readonly workflow: Workflow;
  readonly preset: string;
  readonly settings: Settings;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  /** Edge numbers by node. */
  readonly out: readonly (readonly number[])[];
  /** Positions a task can be created in. */
  readonly roots: readonly number[];
  /** False where there were too many positions to visit them all. */
  readonly complete: boolean;
}

export interface Node {
  readonly world: World;
  /** The edge by which the position was reached first, on a shortest path; undefined for a root. */
  readonly via: number | undefined;
  /** The state a root was created in. */
  readonly created: string | undefined;
}

export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly step: Step;
  readonly driver: Driver;
  /** The rule, `asked`, `escalated` …; empty where the status did not change. */
  readonly cause: string;
}

// Enough for any workflow that a person could draw; a larger one gets a finding instead of a long wait.
const maxNodes = 60_000;

/** Explores a workflow completely, breadth first, with the same `decide` that moves real tasks. */
export function explore(workflow: Workflow, preset: string, settings: Settings): Graph {
  const abstract = createAbstraction(workflow, preset, settings);
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  const out: number[][] = [];
  const known = new Map<string, number>();
  const visit = (world: World, via: number | undefined, created: string | undefined): number => {
    const small = abstract(world);
    const key = keyOf(small);
    const before = known.get(key);
    if (before !== undefined) return before;
    known.set(key, nodes.length);
    nodes.push({ world: small, via, created });
    out.push([]);
    return nodes.length - 1;
  };

  const take = (from: number, step: Step) => {
    const here = (nodes[from] as Node).world;
    const taken = takeStep(workflow, here, step);
    if (taken === undefined) return;
    const edge = edges.length;
    const to = visit(taken.world, edge, undefined);
    const moved = taken.events.findLast((event) => event.type === "task.moved");
    const cause = moved === undefined ? "" : String(moved.data.cause);
    edges.push({ from, to, step, driver: driverOf(step, here.task), cause });
    out[from]?.push(edge);
  };

  const roots: number[] = [];
  const interruptions: { from: number; step: Step }[] = [];
  let at = 0;
  // One start after the other, the usual ones first, and interruptions by people last, so that examples show the paths
  // of ordinary tasks.
  for (const { world, status } of createWorlds(workflow, preset, settings)) {
    roots.push(visit(world, undefined, status));
    do {
      for (; at < nodes.length && nodes.length <= maxNodes; at++) {
        const here = (nodes[at] as Node).world;
        for (const step of stimuli(workflow, here)) {
          if (here.task.phase === "entering" && step.by === "human") interruptions.push({ from: at, step });
          else take(at, step);
        }
      }
      for (const { from, step } of interruptions.splice(0)) take(from, step);
    } while (at < nodes.length && nodes.length <= maxNodes);
  }
  return { workflow, preset, settings, nodes, edges, out, roots: [...new Set(roots)], complete: at === nodes.length };
}

/** The shortest path to a position: the state in which the task is created, and the steps from there. */
export function pathTo(
  graph: Graph,
  node: number,
): { created: string; steps: readonly Step[]; nodes: readonly number[] } {
  const steps: Step[] = [];
  const nodes = [node];
  let at = node;
  for (;;) {
    const via = graph.nodes[at]?.via;
    const edge = via === undefined ? undefined : graph.edges[via];
    if (edge === undefined) break;
    steps.unshift(edge.step);
    at = edge.from;
    nodes.unshift(at);
  }
  return { created: graph.nodes[at]?.created ?? "", steps, nodes };
}

const identity: TaskIdentity = {
  ...blankIdentity,
  id: "t1",
  project: "project",
  number: 1,
  branch: "signalbox/t1",
  summary: "A task",
  harness: "scripted",
  reviewHarness: "scripted",
};

/**
 * A task in each state that it may be created in: the default, the one for unclear tasks, and those that the file
 * lists.
 */
export function createWorlds(
  workflow: Workflow,
  preset: string,
  settings: Settings,
): readonly { world: World; status: string }[] {
  const empty = { workspace: false, sections: {} };
  return [...new Set([workflow.initial[0] ?? "", workflow.unclear, ...workflow.initial])].flatMap((status) => {
    const creation = { ...identity, workflow: workflow.name, status, preset, settings };
    const created = createTask(workflow, creation, factsOf({ task: {} as Task, ...empty }, {}));
    if (created.kind !== "moved") return [];
    return [{ status, world: { ...empty, task: created.task, workspace: workspaceAfter(false, created.effects) } }];
  });
}

/**
 * Drops everything that cannot change a decision: counters are capped above the largest number they are compared with.
 */
function createAbstraction(workflow: Workflow, preset: string, settings: Settings): (world: World) => World {
  const caps = capsOf(workflow, preset, settings);
  const itemSchemas = Object.values(workflow.states).flatMap((state) =>
    state.wait.kind === "fan_out" ? [state.wait.from.result] : [],
  );
  return ({ task, workspace }) => {
    const state = workflow.states[task.status];
    const counters: Record<string, number> = {};
    for (const [name, cap] of caps.counters) {
      const value = Math.min(task.counters[name] ?? 0, cap);
      if (value !== 0) counters[name] = value;
    }
    const visits: Record<string, number> = {};
    for (const [name, cap] of caps.visits) {
      const value = Math.min(task.visits[name] ?? 0, cap);
      if (value !== 0) visits[name] = value;
    }
    const small: Task = {
      ...task,
      previousStatus: "",
      entry: 1,
      counters,
      visits,
      crashCount: state?.terminal ? 0 : Math.min(task.crashCount, caps.crashes.get(task.status) ?? 0),
      runs: Object.fromEntries(Object.entries(task.runs).map(([name, run]) => [name, { ...run, key: `${name}#1` }])),
      sessions: {},
      runCount: 0,
      spent: { sections: [], head: "" },
      results: keptResults(task, state, itemSchemas),
      wait: smallWait(task, caps.rounds.get(task.status), (state?.evidence.length ?? 0) > 0),
      attended: state?.wait.kind === "human" && task.attended,
      held: task.held === undefined ? undefined : { ...task.held, reason: "" },
      reason: "",
      log: [],
      // Decisions read it only through facts, of which every value is tried.
      ledger: undefined,
      documents: undefined,
      stageMessages: undefined,
    };
    return { task: small, workspace, sections: {} };
  };
}

/** Rounds are counted up to their limit, and not at all where there is none; reminders only where evidence is asked for. */
function smallWait(
  { wait: { hasFailed, refused: _, ...progress }, phase }: Task,
  rounds = 0,
  reminds = false,
): WaitProgress {
  const isCounting = phase === "entering" && hasFailed === true;
  const wait = {
    ...progress,
    round: Math.min(progress.round, rounds),
    reminded: reminds ? Math.min(progress.reminded, 1) : 0,
    ...(isCounting ? { hasFailed } : {}),
  };
  const isPlain =
    !isCounting &&
    !wait.skipped &&
    wait.stepLimit === undefined &&
    wait.round === 0 &&
    wait.reminded === 0 &&
    wait.turn === undefined &&
    Object.keys(wait.members).length === 0;
  if (isPlain) return noProgress;
  const members = Object.fromEntries(
    Object.entries(wait.members).map(([name, member]) => [name, { ...member, answer: undefined }]),
  );
  return { ...wait, step: 0, members };
}

/** Keeps answers that rules still have to read, and those that hold the items of a fan-out. */
function keptResults(task: Task, state: State | undefined, itemSchemas: readonly string[]): Task["results"] {
  const read =
    state?.wait.kind === "agent" && state.rules.some((rule) => rule.result !== undefined) && task.phase === "doing"
      ? [state.wait.run.result]
      : [];
  const dialogue = state?.wait.kind === "agent" && state.wait.run.mode === "dialogue" ? [state.wait.run.result] : [];
  const kept = [...read, ...dialogue, ...itemSchemas];
  return Object.fromEntries(Object.entries(task.results).filter(([name]) => kept.includes(name)));
}

function capsOf(workflow: Workflow, preset: string, settings: Settings) {
  const counters = new Map<string, number>();
  const visits = new Map<string, number>();
  const crashes = new Map<string, number>();
  const rounds = new Map<string, number>();
  const raise = (map: Map<string, number>, key: string, value: number) =>
    map.set(key, Math.max(map.get(key) ?? 0, value));
  const look = (guard: Guard, state: string) => {
    const value =
      typeof guard.value === "number"
        ? guard.value
        : Number(settingOf(workflow, { preset, settings }, guard.value.setting) ?? 0);
    if (guard.source === "counter") raise(counters, guard.field, value + 1);
    if (guard.source === "visits") raise(visits, state, value + 1);
    if (guard.source === "crash_count") raise(crashes, state, value + 1);
  };
  for (const way of workflow.ways) for (const guard of way.when) look(guard, way.from);
  for (const state of Object.values(workflow.states)) {
    for (const guard of [...state.unless, ...state.evidence]) look(guard, state.name);
    const runs =
      state.wait.kind === "agent"
        ? [state.wait.run]
        : state.wait.kind === "panel"
          ? [state.wait.member, state.wait.judge]
          : [];
    for (const run of runs) {
      const limit = state.limits.rounds ?? run.limits.rounds;
      if (limit !== undefined) rounds.set(state.name, resolve(limit, workflow, { preset, settings }));
    }
    const attempts = [state.limits.attempts ?? 1, ...runs.map((run) => run.limits.attempts ?? 1)];
    raise(crashes, state.name, Math.max(...attempts));
    for (const rule of state.rules) {
      for (const guard of rule.when) look(guard, state.name);
      if (rule.does.kind !== "then" && rule.does.after !== undefined) raise(crashes, state.name, rule.does.after.count);
    }
  }
  return { counters, visits, crashes, rounds };
}

function keyOf({ task, workspace }: World): string {
  const { status, phase, counters, visits, crashCount, runs, wait, attended, held, results } = task;
  const alive = Object.keys(runs).sort();
  return JSON.stringify([
    status,
    phase,
    sorted(counters),
    sorted(visits),
    crashCount,
    alive,
    wait,
    attended,
    held,
    results,
    workspace,
  ]);
}

function sorted(record: Readonly<Record<string, number>>): readonly (readonly [string, number])[] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

export interface Variant {
  readonly preset: string;
  readonly settings: Settings;
}

// Each switch doubles the work; further switches keep their defaults.
const maxSwitches = 4;
/** A proof depends on comparisons, not on the size of a bound: larger numbers in settings are cut to this. */
export const largestBound = 3;

/** Every preset with every combination of switches. With a `bound`, larger numbers and longer lists are cut to it. */
export function variantsOf(workflow: Workflow, bound = Number.POSITIVE_INFINITY): readonly Variant[] {
  const presets = Object.keys(workflow.presets).length > 0 ? Object.keys(workflow.presets) : [""];
  return presets.flatMap((preset) => {
    let combinations: Record<string, SettingValue>[] = [small(workflow, preset, bound)];
    for (const name of switchesOf(workflow, preset).tried) {
      combinations = combinations.flatMap((each) => [
        { ...each, [name]: false },
        { ...each, [name]: true },
      ]);
    }
    return combinations.map((settings) => ({ preset, settings }));
  });
}

/** The switches that guards read and the preset does not set: those tried in every combination, and the rest. */
export function switchesOf(
  workflow: Workflow,
  preset: string,
): { readonly tried: readonly string[]; readonly left: readonly string[] } {
  const inStates = Object.values(workflow.states).flatMap((state) => [
    ...state.unless,
    ...state.evidence,
    ...state.rules.flatMap((rule) => rule.when),
  ]);
  const compared = new Set([...workflow.ways.flatMap((way) => way.when), ...inStates].map((guard) => guard.field));
  const free = Object.keys(workflow.settings).filter(
    (name) =>
      typeof workflow.settings[name]?.default === "boolean" &&
      compared.has(name) &&
      workflow.presets[preset]?.[name] === undefined,
  );
  return { tried: free.slice(0, maxSwitches), left: free.slice(maxSwitches) };
}

function small(workflow: Workflow, preset: string, bound: number): Record<string, SettingValue> {
  const settings: Record<string, SettingValue> = {};
  for (const [name, setting] of Object.entries(workflow.settings)) {
    const value = workflow.presets[preset]?.[name] ?? setting.default;
    if (typeof value === "number" && value > bound) settings[name] = Math.max(setting.min ?? 0, bound);
    if (Array.isArray(value) && value.length > bound - 1) settings[name] = value.slice(0, bound - 1);
  }
  return settings;
}
