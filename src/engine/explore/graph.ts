import { createTask } from "../create.ts";
import { blankIdentity, type Task, type TaskIdentity } from "../task.ts";
import type { Settings, Workflow } from "../workflow.ts";
import type { Outcome } from "./choices.ts";
import { createPositions, createShared } from "./position.ts";
import { marksOf } from "./promise-marks.ts";
import { type Driver, driverOf, type Step } from "./step.ts";
import { outcomes } from "./stimuli.ts";
import { factsOf, noPast, type World, worldAfter } from "./world.ts";

/** Every position that a task can reach, and every step between positions. */
export interface Graph {
  readonly workflow: Workflow;
  readonly preset: string;
  readonly settings: Settings;
  readonly nodes: readonly Node[];
  readonly edges: readonly Edge[];
  /** Edge numbers by node. */
  readonly out: readonly (readonly number[])[];
  /** Positions a task can be created in, each with the state that it is created in. */
  readonly roots: ReadonlyMap<number, string>;
  /** For each state the words after which it was held, with an edge that holds the task. */
  readonly held: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** False where there were too many positions to visit them all. */
  readonly complete: boolean;
}

export interface Node {
  readonly world: World;
  /** The edge by which the position was reached first, on a shortest path; undefined where that was by creation. */
  readonly via: number | undefined;
}

export interface Edge {
  readonly from: number;
  readonly to: number;
  readonly step: Step;
  readonly driver: Driver;
  /** The rule, `asked`, `escalated` …; empty where the status did not change. */
  readonly cause: string;
  /** What the step means for the promises of the workflow. */
  readonly marks: string;
}

// Enough for any workflow that a person could draw; a larger one gets a finding instead of a long wait.
const maxNodes = 60_000;

/** A step that was taken, without what is only needed once: events and effects take much memory. */
interface Taken {
  readonly step: Step;
  readonly world: World;
  /** Why the task is held; worlds of the same position may differ in it. */
  readonly held: Task["held"];
  readonly cause: string;
  readonly marks: string;
  readonly key: string;
}

interface Extent {
  /** How many positions may be visited. */
  readonly most?: number;
  /** Whether hooks fail, limits of whole tasks are reached, programs are not logged in and pools are full. */
  readonly mishaps?: boolean;
  /** Called every thousand positions, with their number. */
  readonly progress?: (positions: number) => void;
}

/** Explores a workflow completely, breadth first, with the same `decide` that moves real tasks. */
export function explore(
  workflow: Workflow,
  preset: string,
  settings: Settings,
  { most = maxNodes, mishaps = true, progress }: Extent = {},
): Graph {
  const positions = createPositions(workflow, preset, settings);
  const share = createShared();
  const nodes: Node[] = [];
  const edges: Edge[] = [];
  const out: number[][] = [];
  const held = new Map<string, Map<string, number>>();
  const known = new Map<string, number>();
  const visit = (world: World, via?: number, key = positions.key(world)): number => {
    const before = known.get(key);
    if (before !== undefined) return before;
    known.set(key, nodes.length);
    nodes.push({ world: positions.small(world), via });
    out.push([]);
    return nodes.length - 1;
  };

  const add = (from: number, { step, world, held: heldNow, cause, marks, key }: Taken) => {
    const here = (nodes[from] as Node).world;
    const edge = edges.length;
    const to = visit(world, edge, key);
    const driver = driverOf(step, here.task);
    // Of many answers and facts that lead to the same, one is enough; what agents may ask for is all of interest.
    const { status } = world.task;
    const word = driver === "mishap" || heldNow === here.task.held ? undefined : heldNow?.word;
    const words = word === undefined ? undefined : held.get(status);
    const isNewWord = word !== undefined && words?.has(word) !== true;
    const isKnown =
      !isNewWord &&
      driver !== "agent" &&
      out[from]?.some((number) => {
        const other = edges[number];
        return other?.to === to && other.driver === driver && other.cause === cause && other.marks === marks;
      });
    if (isKnown) return;
    edges.push({ from, to, step: share(step), driver, cause, marks });
    out[from]?.push(edge);
    if (!isNewWord) return;
    held.set(status, (words ?? new Map<string, number>()).set(word, edge));
  };

  const roots = new Map<number, string>();
  const interruptions: { from: number; taken: Taken }[] = [];
  // The positions that interruptions lead to: many lead to the same.
  const waiting = new Map<string, Pick<Taken, "key" | "world">>();
  let at = 0;
  let isCut = false;
  // One start after the other, the usual ones first, and mishaps and what interrupts a move last, so that examples show
  // the paths of ordinary tasks.
  for (const { world, status } of createWorlds(workflow, preset, settings)) {
    const root = visit(world);
    if (!roots.has(root)) roots.set(root, status);
    do {
      for (; at < nodes.length && nodes.length < most; at++) {
        if (at % 1_000 === 999) progress?.(at + 1);
        const here = (nodes[at] as Node).world;
        for (const outcome of outcomes(workflow, here)) {
          if (!mishaps && isMishap(outcome.step, here.task)) continue;
          const { step, taken } = outcome;
          const key = positions.key(taken.world);
          const marks = marksOf(workflow, here, step, taken);
          const cause = causeOf(taken.events);
          const found = { step, world: taken.world, held: taken.world.task.held, cause, marks, key };
          if (isOrdinary(step, here.task) || known.has(key)) add(at, found);
          else {
            const place = waiting.get(key) ?? { key, world: positions.small(taken.world) };
            waiting.set(place.key, place);
            interruptions.push({ from: at, taken: { ...found, ...place } });
          }
        }
      }
      for (const { from, taken } of interruptions.splice(0)) {
        isCut ||= nodes.length >= most;
        if (!isCut) add(from, taken);
      }
      waiting.clear();
    } while (at < nodes.length && nodes.length < most);
  }
  return {
    workflow,
    preset,
    settings,
    nodes,
    edges,
    out,
    roots,
    held,
    complete: at === nodes.length && !isCut,
  };
}

function isOrdinary(step: Step, task: Task): boolean {
  if (task.phase === "entering") return step.what === "settled";
  return !isMishap(step, task) && !step.helped;
}

function isMishap(step: Step, task: Task): boolean {
  return driverOf(step, task) === "mishap" || step.poolFull === true || step.isFinal === true;
}

/** The positions that a task reaches without a mishap. */
export function reachedUsually({ nodes, edges, out, roots }: Graph): readonly boolean[] {
  const reached = nodes.map(() => false);
  const queue = [...roots.keys()];
  for (const root of queue) reached[root] = true;
  for (const node of queue) {
    const here = nodes[node]?.world.task;
    for (const number of out[node] ?? []) {
      const edge = edges[number];
      if (edge === undefined || here === undefined || reached[edge.to] || isMishap(edge.step, here)) continue;
      reached[edge.to] = true;
      queue.push(edge.to);
    }
  }
  return reached;
}

function causeOf(events: Outcome["taken"]["events"]): string {
  for (let i = events.length - 1; i >= 0; i--) {
    const event = events[i];
    if (event?.type === "task.moved") return String(event.data.cause);
  }
  return "";
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
  return { created: graph.roots.get(at) ?? "", steps, nodes };
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
  const empty = { workspace: false, sections: {}, past: noPast };
  return [...new Set([workflow.initial[0] ?? "", workflow.unclear, ...workflow.initial])].flatMap((status) => {
    const creation = { ...identity, workflow: workflow.name, status, preset, settings };
    const created = createTask(workflow, creation, factsOf(empty, {}));
    if (created.kind !== "moved") return [];
    return [{ status, world: worldAfter({ ...empty, task: created.task }, created) }];
  });
}
