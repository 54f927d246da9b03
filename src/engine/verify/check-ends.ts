import type { Edge, Graph } from "../explore/graph.ts";
import type { Task } from "../task.ts";
import type { State } from "../workflow.ts";
import { exampleOf } from "./example.ts";
import type { Finding } from "./finding.ts";

/** From every position some end must be reachable, and an end that is not a cancellation. */
export function checkEnds(graph: Graph): readonly Finding[] {
  if (!graph.complete) return [];
  const outcomeOf = (node: number) => stateAt(graph, node)?.outcome;
  const ends = backwards(graph, graph.edges, (node) => stateAt(graph, node)?.terminal === true);
  const successes = backwards(
    graph,
    graph.edges,
    (node) => outcomeOf(node) !== undefined && outcomeOf(node) !== "cancelled",
  );
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
  if (!graph.complete) return [];
  const goesOn = withoutPeople(graph);
  const findings: Finding[] = [];
  const told = new Set<string>();
  const tell = (code: "silent-wait" | "no-verb", status: string, example: Finding["example"]) => {
    if (told.has(`${code} ${status}`)) return;
    told.add(`${code} ${status}`);
    findings.push({
      level: "error",
      code,
      state: status,
      message:
        code === "silent-wait"
          ? `In "${status}" nobody is at work and nobody is asked.`
          : `In "${status}" a person is needed, but there is nothing they can do.`,
      fix:
        code === "silent-wait"
          ? "Let the state wait for an agent or a person."
          : `Add a transition out of "${status}" that a person may ask for.`,
      example,
    });
  };
  for (const [node, { world }] of graph.nodes.entries()) {
    const { task } = world;
    const state = stateAt(graph, node);
    if (state === undefined || state.terminal || task.phase !== "waiting") continue;
    const isOpen = state.wait.kind === "open";
    const isAsked = state.wait.kind === "human" || asksPerson(task);
    const personMoves = (graph.out[node] ?? []).some((edge) => graph.edges[edge]?.driver === "human");
    if (!goesOn[node] && !isAsked && !isOpen) tell("silent-wait", task.status, exampleOf(graph, "silent-wait", node));
    if ((isAsked || isOpen) && !personMoves && (task.held !== undefined || !goesOn[node])) {
      tell("no-verb", task.status, exampleOf(graph, "no-verb", node));
    }
  }
  // A state that only watches for the end of agents may be where a person put the task; the machine must not leave it there.
  for (const [number, edge] of graph.edges.entries()) {
    const state = stateAt(graph, edge.to);
    const watches = state?.wait.kind === "open" && state.rules.some(({ does }) => does.kind !== "mark_dead");
    const isAlone = Object.keys(graph.nodes[edge.to]?.world.task.runs ?? {}).length === 0;
    // Its limit may still take it on.
    const isTimed = state?.limits.time !== undefined || state?.limits.cost !== undefined;
    if (edge.cause === "" || edge.driver === "human" || !watches || !isAlone || isTimed) continue;
    tell("silent-wait", state.name, exampleOf(graph, "silent-wait", edge.from, [number]));
  }
  return findings;
}

/** The positions from which the task leaves its state, begins its work or asks a person, without a person's step. */
function withoutPeople(graph: Graph): readonly boolean[] {
  const isProgress = (edge: Edge) => {
    const [before, after] = [edge.from, edge.to].map((node) => graph.nodes[node]?.world.task);
    return edge.cause !== "" || before?.phase !== after?.phase || (after !== undefined && asksPerson(after));
  };
  const own = graph.edges.filter((edge) => edge.driver !== "human");
  const starts = new Set(own.filter(isProgress).map((edge) => edge.from));
  return backwards(graph, own, (node) => starts.has(node));
}

function asksPerson({ held, wait }: Task): boolean {
  return held !== undefined || wait.turn === "reply" || wait.turn === "confirm";
}

function stateAt(graph: Graph, node: number): State | undefined {
  return graph.workflow.states[graph.nodes[node]?.world.task.status ?? ""];
}

/** The nodes from which one that `is` something can be reached. */
function backwards(graph: Graph, edges: readonly Edge[], is: (node: number) => boolean): readonly boolean[] {
  const incoming: number[][] = graph.nodes.map(() => []);
  for (const edge of edges) incoming[edge.to]?.push(edge.from);
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
