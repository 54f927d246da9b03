import type { Graph } from "../explore/graph.ts";
import type { State } from "../workflow.ts";
import { exampleOf } from "./example.ts";
import type { Finding } from "./finding.ts";

/** From every position some end must be reachable, and an end that is not a cancellation. */
export function checkEnds(graph: Graph): readonly Finding[] {
  if (!graph.complete) return [];
  const outcomeOf = (node: number) => stateAt(graph, node)?.outcome;
  const ends = backwards(graph, (node) => stateAt(graph, node)?.terminal === true);
  const successes = backwards(graph, (node) => outcomeOf(node) !== undefined && outcomeOf(node) !== "cancelled");
  const hasCancel = Object.values(graph.workflow.states).some((state) => state.outcome === "cancelled");
  const findings: Finding[] = [];
  const told = new Set<string>();
  for (const [node, { world }] of graph.nodes.entries()) {
    const { status, held } = world.task;
    if ((ends[node] && successes[node]) || outcomeOf(node) !== undefined) continue;
    if (told.has(status)) continue;
    told.add(status);
    const where = held ? `"${status}" once it is held there` : `"${status}"`;
    findings.push(
      ends[node]
        ? {
            level: "error",
            code: "no-success",
            state: status,
            message: `From ${where} a task can only be cancelled.`,
            fix: `Add a rule or a transition that leads on from "${status}".`,
            example: exampleOf(graph, "no-success", node),
          }
        : {
            level: "error",
            code: "wedge",
            state: status,
            message: `From ${where} no end can be reached, whatever anybody does.`,
            fix: hasCancel
              ? `Add a way out of "${status}".`
              : `Add a way out of "${status}", and let a person cancel from any state.`,
            example: exampleOf(graph, "wedge", node),
          },
    );
  }
  return findings;
}

/** Somebody must always be at work, or a person must know that it is their turn and be able to act. */
export function checkWaits(graph: Graph): readonly Finding[] {
  const findings: Finding[] = [];
  const told = new Set<string>();
  for (const [node, { world }] of graph.nodes.entries()) {
    const { task } = world;
    const state = stateAt(graph, node);
    if (state === undefined || state.terminal || task.phase !== "waiting") continue;
    const steps = (graph.out[node] ?? []).map((edge) => graph.edges[edge]);
    const machineMoves = steps.some((edge) => edge !== undefined && edge.driver !== "human");
    const personMoves = steps.some((edge) => edge?.driver === "human");
    const asksPerson =
      task.held !== undefined ||
      state.wait.kind === "human" ||
      state.wait.kind === "open" ||
      task.wait.turn === "reply" ||
      task.wait.turn === "confirm";
    const code =
      !machineMoves && !asksPerson
        ? "silent-wait"
        : asksPerson && !personMoves && (task.held !== undefined || !machineMoves)
          ? "no-verb"
          : undefined;
    if (code === undefined || told.has(`${code} ${task.status}`)) continue;
    told.add(`${code} ${task.status}`);
    findings.push({
      level: "error",
      code,
      state: task.status,
      message:
        code === "silent-wait"
          ? `In "${task.status}" nobody is at work and nobody is asked.`
          : `In "${task.status}" a person is needed, but there is nothing they can do.`,
      fix:
        code === "silent-wait"
          ? "Let the state wait for an agent or a person."
          : `Add a transition out of "${task.status}" that a person may ask for.`,
      example: exampleOf(graph, code, node),
    });
  }
  return findings;
}

export function stateAt(graph: Graph, node: number): State | undefined {
  return graph.workflow.states[graph.nodes[node]?.world.task.status ?? ""];
}

/** The nodes from which one that `is` something can be reached. */
function backwards(graph: Graph, is: (node: number) => boolean): readonly boolean[] {
  const incoming: number[][] = graph.nodes.map(() => []);
  for (const edge of graph.edges) incoming[edge.to]?.push(edge.from);
  const reached = graph.nodes.map((_, node) => is(node));
  const queue = reached.flatMap((yes, node) => (yes ? [node] : []));
  for (const node of queue) {
    for (const from of incoming[node] ?? []) {
      if (reached[from]) continue;
      reached[from] = true;
      queue.push(from);
    }
  }
  return reached;
}
