import type { Effect } from "../decision.ts";
import { variantsOf } from "../explore/configurations.ts";
import { type Edge, explore, type Graph } from "../explore/graph.ts";
import { factsOf, takeStep } from "../explore/world.ts";
import { gateReasons } from "../gate.ts";
import { allHold } from "../when.ts";
import type { Way, Workflow } from "../workflow.ts";
import { lines, mermaidIds, mermaidText } from "./workflow.ts";

/** A path that a task took, or could take, through a workflow. */
export interface Route {
  readonly created: string;
  readonly steps: readonly RouteStep[];
  /** The last steps form a cycle of this length; 0 where there is none. */
  readonly circle: number;
}

interface RouteStep {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/** The states of the path, joined by arrows; a cycle has a line of its own, marked with ↻. */
export function routeText(route: Route): readonly string[] {
  const { created, steps, circle } = route;
  const before = steps.slice(0, steps.length - circle);
  const way = distinct([created, ...before.map((step) => step.to)]).join(" → ");
  if (circle === 0) return [way];
  const start = before.at(-1)?.to ?? created;
  const around = distinct([start, ...steps.slice(-circle).map((step) => step.to)]);
  return [way, `↻ ${(around.length === 1 ? [start, start] : around).join(" → ")} → …`];
}

/** The same as a Mermaid state diagram whose arrows carry the number and the text of the step. */
export function routeMermaid(route: Route): string {
  const { created, steps, circle } = route;
  const ids = mermaidIds(distinct([created, ...steps.map((step) => step.to)]));
  const id = (name: string) => ids.get(name) ?? name;
  const isAround = (index: number) => index >= steps.length - circle;
  const stays = steps.every((step, i) => !isAround(i) || step.from === step.to);
  return lines([
    "stateDiagram-v2",
    ...[...ids].map(([name, each]) => `  state "${mermaidText(name)}" as ${each}`),
    `  [*] --> ${id(created)}`,
    ...steps.flatMap((step, i) => {
      // A step that does not move the task gets an arrow only if the cycle consists of such steps.
      if (step.from === step.to && !(isAround(i) && stays)) return [];
      const mark = isAround(i) ? "↻ " : "";
      return [`  ${id(step.from)} --> ${id(step.to)} : ${mark}${i + 1}. ${mermaidText(step.text)}`];
    }),
  ]);
}

function distinct(states: readonly string[]): readonly string[] {
  return states.filter((state, i) => state !== states[i - 1]);
}

// As in a proof: the size of a bound does not change what a way does.
const largestBound = 3;

/**
 * The effects of each way when it is taken from an ordinary position: ending runs of the old state, the hooks, and
 * starting or messaging runs of the new state. A way that no task can take is missing.
 */
export function effectsOfWays(workflow: Workflow): ReadonlyMap<Way, readonly Effect[]> {
  const effects = new Map<Way, readonly Effect[]>();
  for (const { preset, settings } of variantsOf(workflow, largestBound)) {
    for (const [way, found] of effectsIn(explore(workflow, preset, settings, { mishaps: false }))) {
      if (!effects.has(way)) effects.set(way, found);
    }
    if (effects.size === workflow.ways.length) break;
  }
  return effects;
}

function effectsIn(graph: Graph): ReadonlyMap<Way, readonly Effect[]> {
  const costs = costsOf(graph);
  const best = new Map<Way, { cost: number; effects: readonly Effect[] }>();
  for (const edge of graph.edges) {
    if (edge.cause === "") continue;
    const cost = (costs[edge.from] ?? 0) + costOf(graph, edge);
    const taken = wayTaken(graph, edge);
    if (taken !== undefined && cost < (best.get(taken.way)?.cost ?? Number.POSITIVE_INFINITY)) {
      best.set(taken.way, { cost, effects: taken.effects });
    }
  }
  return new Map([...best].map(([way, { effects }]) => [way, effects]));
}

// One accident costs more than any number of ordinary steps.
const accidentCost = 1_000;

/** The cost of reaching each position: accidents first, then steps. Low costs are ordinary positions. */
function costsOf(graph: Graph): readonly number[] {
  const costs = graph.nodes.map(() => Number.POSITIVE_INFINITY);
  const queue = [...graph.roots.keys()];
  for (const [i, root] of queue.entries()) costs[root] = i === 0 ? 0 : 5 * accidentCost;
  for (const node of queue) {
    for (const number of graph.out[node] ?? []) {
      const edge = graph.edges[number];
      if (edge === undefined) continue;
      const cost = (costs[node] ?? 0) + costOf(graph, edge);
      if (cost >= (costs[edge.to] ?? 0)) continue;
      costs[edge.to] = cost;
      queue.push(edge.to);
    }
  }
  return costs;
}

/** A request or a success costs one step. Accidents, held tasks and interruptions cost more. */
function costOf(graph: Graph, { from, step }: Edge): number {
  const task = graph.nodes[from]?.world.task;
  // A session ends when it is told to; other runs end by giving their answer.
  const isCut = step.word !== undefined && step.word !== "ok";
  const isInterrupted = task?.phase === "entering" && step.what !== "settled";
  const oddities = [isCut, isInterrupted, step.what === "idle", step.what === "limit", task?.held !== undefined];
  return 1 + accidentCost * oddities.filter(Boolean).length;
}

function wayTaken(graph: Graph, edge: Edge): { way: Way; effects: readonly Effect[] } | undefined {
  const { workflow } = graph;
  const world = graph.nodes[edge.from]?.world;
  const taken = world && takeStep(workflow, world, edge.step);
  const moved = taken?.decisions.at(-1);
  const event = moved?.events.findLast((each) => each.type === "task.moved");
  if (world === undefined || taken === undefined || moved === undefined || event === undefined) return undefined;

  const task = taken.decisions.at(-2)?.task ?? world.task;
  const facts = factsOf({ ...world, sections: { ...world.sections, ...edge.step.sections } }, edge.step);
  const isEscalation = edge.cause === "escalated";
  const way = workflow.ways.find((each) => {
    if (each.from !== event.data.from || each.to !== event.data.to) return false;
    if ((each.implied === "escalation") !== isEscalation) return false;
    if (edge.cause === "asked" && each.by !== undefined && !each.by.includes(event.by)) return false;
    return (
      isEscalation ||
      (allHold(each.when, workflow, task, facts) && gateReasons(each, workflow, task, facts).length === 0)
    );
  });
  return way === undefined ? undefined : { way, effects: moved.effects };
}
