import type { Effect } from "../decision.ts";
import { type Edge, explore, type Graph } from "../explore/graph.ts";
import { variantsOf } from "../explore/variants.ts";
import { factsOf, takeStep } from "../explore/world.ts";
import { gateReasons } from "../gate.ts";
import { allHold } from "../when.ts";
import type { Way, Workflow } from "../workflow.ts";

// As in a proof: how far away a bound is makes no difference to what a way does.
const largestBound = 3;

/**
 * What the engine owes when each way is taken from an ordinary position: the runs that end with the old state, the hooks,
 * and the runs that the new state starts or tells. A way that no task ever takes is missing.
 */
export function effectsOfWays(workflow: Workflow): ReadonlyMap<Way, readonly Effect[]> {
  const effects = new Map<Way, readonly Effect[]>();
  for (const { preset, settings } of variantsOf(workflow, largestBound)) {
    for (const [way, found] of effectsIn(explore(workflow, preset, settings))) {
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

// One accident makes a life odder than any number of ordinary steps.
const accident = 1_000;

/** How far from ordinary each position is: by the accidents on the way there, then by the steps. */
function costsOf(graph: Graph): readonly number[] {
  const costs = graph.nodes.map(() => Number.POSITIVE_INFINITY);
  const queue = [...graph.roots];
  for (const [i, root] of graph.roots.entries()) costs[root] = i === 0 ? 0 : 5 * accident;
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

/** Somebody asks or everything goes well: one step. Accidents, held tasks and interruptions are odder. */
function costOf(graph: Graph, { from, step }: Edge): number {
  const task = graph.nodes[from]?.world.task;
  // A session ends when it is told to; other runs end by giving their answer.
  const isCut = step.word !== undefined && step.word !== "ok";
  const isInterrupted = task?.phase === "entering" && step.what !== "settled";
  const oddities = [isCut, isInterrupted, step.what === "idle", step.what === "limit", task?.held !== undefined];
  return 1 + accident * oddities.filter(Boolean).length;
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
