import { type Graph, pathTo } from "../explore/graph.ts";
import type { Step } from "../explore/step.ts";
import type { Settings } from "../workflow.ts";

/** A life of a task from its creation along these edges; the last one breaks the promise. */
export function exampleAlong(graph: Graph, promise: string, root: number, edges: readonly number[]): Example {
  // A shorter path may lead to the same position, along which other things have happened.
  const path = { created: graph.roots.get(root) ?? "", steps: [], nodes: [root] };
  return { ...example(graph, "promise", path, edges), promise, circle: 0 };
}

/** An example that follows the shortest path to a position, and then the `further` edges. */
export function exampleOf(graph: Graph, code: FindingCode, node: number, further: readonly number[] = []): Example {
  return example(graph, code, pathTo(graph, node), further);
}

function example(
  graph: Graph,
  code: FindingCode,
  path: ReturnType<typeof pathTo>,
  further: readonly number[],
): Example {
  const node = path.nodes.at(-1) ?? 0;
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

/** A shortest cycle through `start` that stays `inside` and uses only edges that `may` be used. */
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

/** A problem, or something worth knowing, that exploring a workflow found. */
export interface Finding {
  /** error: a task can get lost; warning: it runs, but perhaps not as intended; note: worth knowing. */
  readonly level: "error" | "warning" | "note";
  readonly code: FindingCode;
  readonly state: string;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** How to fix it, as a sentence. */
  readonly fix: string;
  /** Steps that make it happen; undefined where there are none (an unreachable state). */
  readonly example: Example | undefined;
}

export type FindingCode =
  | "wedge"
  | "no-success"
  | "silent-wait"
  | "promise"
  | "rule-cycle"
  | "agent-cycle"
  | "gate-without-producer"
  | "nobody-asks"
  | "no-verb"
  | "choice"
  | "bypass"
  | "self-review"
  | "leak"
  | "unreachable"
  | "dead-rule"
  | "held"
  | "incomplete"
  | "unexplored"
  | "children"
  | "loading";

/** A counterexample that can be followed step by step. */
export interface Example {
  readonly workflow: string;
  readonly hash: string;
  readonly code: FindingCode;
  readonly preset: string;
  readonly settings: Settings;
  /** The promise that the last step breaks, as one line of YAML, where the example is about one. */
  readonly promise?: string;
  /** The state the task is created in. */
  readonly created: string;
  readonly steps: readonly Step[];
  /** The last steps of `steps` form a cycle of this length; 0 where there is none. */
  readonly circle: number;
  readonly ends: { readonly status: string; readonly held: boolean };
  /** The states that the task passes through. */
  readonly route: readonly string[];
}
