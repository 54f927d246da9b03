import { components } from "../explore/components.ts";
import type { Graph } from "../explore/graph.ts";
import { circleThrough, exampleOf } from "./example.ts";
import type { Finding } from "./finding.ts";

/**
 * Every cycle must be broken by a person, a counter or a limit. Counters and limits are part of a position, so a circle
 * of positions without a person's step is one that nothing bounds.
 */
export function checkCycles(graph: Graph): readonly Finding[] {
  const byMachine = circles(graph, (edge) => graph.edges[edge]?.driver === "machine");
  const withAgents = circles(
    graph,
    (edge) => graph.edges[edge]?.driver === "machine" || graph.edges[edge]?.driver === "agent",
  );
  const covered = new Set(byMachine.map((circle) => statesOf(graph, circle.edges)));
  const isBounded = graph.workflow.limits.cost !== undefined || graph.workflow.limits.time !== undefined;
  return [
    ...byMachine.map(({ node, edges }): Finding => {
      const round = statesOf(graph, edges);
      return {
        level: "error",
        code: "rule-cycle",
        state: graph.nodes[node]?.world.task.status ?? "",
        message: `Rules alone can drive a task round and round: ${round}.`,
        fix: "Bound it with a condition such as visits < 3, or let a person stand on the way round.",
        example: exampleOf(graph, "rule-cycle", node, edges),
      };
    }),
    ...withAgents
      .filter(
        ({ edges }) =>
          !covered.has(statesOf(graph, edges)) && edges.some((edge) => graph.edges[edge]?.driver === "agent"),
      )
      .map(({ node, edges }): Finding => {
        const round = statesOf(graph, edges);
        return {
          level: isBounded ? "note" : "warning",
          code: "agent-cycle",
          state: graph.nodes[node]?.world.task.status ?? "",
          message: `Agents alone can take a task round and round: ${round}.`,
          fix: "Say by: human on one of these ways, bound it with visits, or set limits: { cost: … } for the task.",
          example: exampleOf(graph, "agent-cycle", node, edges),
        };
      }),
  ];
}

/** One circle for each component of positions that is connected by such edges. */
function circles(graph: Graph, may: (edge: number) => boolean): readonly { node: number; edges: readonly number[] }[] {
  const targets = (node: number) => (graph.out[node] ?? []).filter(may).map((edge) => graph.edges[edge]?.to ?? node);
  const component = components(graph.nodes.length, targets);
  const first = new Map<number, number>();
  for (const edge of graph.edges.keys()) {
    const { from, to } = graph.edges[edge] ?? { from: 0, to: 0 };
    const number = component[from] ?? -1;
    if (!may(edge) || number !== component[to]) continue;
    if (from < (first.get(number) ?? Number.POSITIVE_INFINITY)) first.set(number, from);
  }
  const found = new Map<string, { node: number; edges: readonly number[] }>();
  for (const [number, node] of first) {
    const edges = circleThrough(graph, node, (each) => component[each] === number, may);
    // Positions of one circle that differ in counters are one finding to the author.
    const round = statesOf(graph, edges);
    if (edges.length > 0 && !found.has(round)) found.set(round, { node, edges });
  }
  return [...found.values()];
}

function statesOf(graph: Graph, circle: readonly number[]): string {
  const statuses = circle.map((edge) => graph.nodes[graph.edges[edge]?.from ?? 0]?.world.task.status ?? "");
  const distinct = statuses.filter((status, i) => i === 0 || status !== statuses[i - 1]);
  // Begin with the state that comes first in the file, so that the same circle always reads the same.
  const order = Object.keys(graph.workflow.states);
  const start = distinct.reduce(
    (best, status, i) => (order.indexOf(status) < order.indexOf(distinct[best] ?? "") ? i : best),
    0,
  );
  const turned = [...distinct.slice(start), ...distinct.slice(0, start)];
  const round = turned.filter((status, i) => i === 0 || status !== turned[i - 1]);
  return [...round, round[0] ?? ""].join(" → ");
}
