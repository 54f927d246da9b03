import { type Graph, pathTo } from "../explore/graph.ts";
import type { Step } from "../explore/step.ts";
import type { Example, FindingCode } from "./finding.ts";

/** The shortest way to a position, as something to follow; with `further` edges, from there on along them. */
export function exampleOf(graph: Graph, code: FindingCode, node: number, further: readonly number[] = []): Example {
  const path = pathTo(graph, node);
  const around = further.map((edge) => graph.edges[edge]);
  const steps: readonly Step[] = [...path.steps, ...around.flatMap((edge) => (edge === undefined ? [] : [edge.step]))];
  const nodes = [...path.nodes, ...around.flatMap((edge) => (edge === undefined ? [] : [edge.to]))];
  const last = graph.nodes[nodes.at(-1) ?? node]?.world.task;
  const statuses = nodes.map((each) => graph.nodes[each]?.world.task.status ?? "");
  return {
    workflow: graph.workflow.name,
    hash: graph.workflow.hash,
    code,
    preset: graph.preset,
    settings: graph.settings,
    created: path.created,
    steps,
    circle: around.at(-1)?.to === node ? around.length : 0,
    ends: { status: last?.status ?? "", held: last?.held !== undefined },
    route: statuses.filter((status, i) => status !== statuses[i - 1]),
  };
}

/** A shortest circle through `start` that stays among `inside` and uses only edges that `may` be used. */
export function circleThrough(
  graph: Graph,
  start: number,
  inside: (node: number) => boolean,
  may: (edge: number) => boolean,
): readonly number[] {
  const via = new Map<number, number>();
  const queue = [start];
  for (const node of queue) {
    for (const number of graph.out[node] ?? []) {
      const edge = graph.edges[number];
      if (edge === undefined || !may(number) || !inside(edge.to)) continue;
      if (edge.to === start) {
        const circle = [number];
        for (let at = node; at !== start; ) {
          const before = via.get(at);
          const edgeBefore = before === undefined ? undefined : graph.edges[before];
          if (before === undefined || edgeBefore === undefined) break;
          circle.unshift(before);
          at = edgeBefore.from;
        }
        return circle;
      }
      if (!via.has(edge.to)) {
        via.set(edge.to, number);
        queue.push(edge.to);
      }
    }
  }
  return [];
}
