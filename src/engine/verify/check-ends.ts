import { components } from "../explore/components.ts";
import type { Edge, Graph } from "../explore/graph.ts";
import type { Task } from "../task.ts";
import type { State } from "../workflow.ts";
import { circleThrough, exampleOf, type Finding } from "./finding.ts";

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
  const canBeDone = backwards(graph, graph.edges, (node) => outcomeOf(node) === "done");
  const hasCancel = Object.values(graph.workflow.states).some((state) => state.outcome === "cancelled");
  const findings: Finding[] = [];
  const told = new Set<string>();
  for (const root of graph.roots.keys()) {
    const { status } = graph.nodes[root]?.world.task ?? { status: "" };
    // Where no good end is left at all, that is told below.
    if (canBeDone[root] || !successes[root] || told.has(status)) continue;
    told.add(status);
    findings.push({
      level: "error",
      code: "no-success",
      state: status,
      message: `No task that is created in "${status}" can be done; it can only fail or be cancelled.`,
      fix: `Lead a way to a terminal state with the outcome done${graph.workflow.listsInitial ? "" : ', or say where tasks start: without "initial" they can be created in every state'}.`,
      example: exampleOf(graph, "no-success", root),
    });
  }
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
            message: `From ${where} no end can be reached by any step.`,
            fix: hasCancel
              ? `Add a way out of "${status}".`
              : `Add a way out of "${status}", and let a person cancel from any state.`,
            example: exampleOf(graph, "wedge", node),
          },
    );
  }
  return findings;
}

/** An agent must be at work, or a person must be asked and be able to act. */
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
          ? `In "${status}" no agent is at work and no person is asked.`
          : `In "${status}" a person is needed, but has no way to act.`,
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
    const personMoves = (graph.out[node] ?? []).some((edge) => graph.edges[edge]?.step.by === "human");
    if (!goesOn[node] && !isAsked && !isOpen) tell("silent-wait", task.status, exampleOf(graph, "silent-wait", node));
    if ((isAsked || isOpen) && !personMoves && (task.held !== undefined || !goesOn[node])) {
      tell("no-verb", task.status, exampleOf(graph, "no-verb", node));
    }
  }
  // A person may put the task into a state that only watches for the end of agents; the engine must not leave it there.
  for (const [number, edge] of graph.edges.entries()) {
    const state = stateAt(graph, edge.to);
    const watches = state?.wait.kind === "open" && state.rules.some(({ does }) => does.kind !== "mark_dead");
    const isAlone = Object.keys(graph.nodes[edge.to]?.world.task.runs ?? {}).length === 0;
    // A limit of the state may still move the task.
    const isTimed = state?.limits.time !== undefined || state?.limits.cost !== undefined;
    if (edge.cause === "" || edge.driver === "human" || edge.driver === "mishap" || !watches || !isAlone || isTimed)
      continue;
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
  // What nobody can foresee is no progress.
  const own = graph.edges.filter((edge) => edge.driver !== "human" && edge.driver !== "mishap");
  const starts = new Set(own.filter(isProgress).map((edge) => edge.from));
  return backwards(graph, own, (node) => starts.has(node));
}

function asksPerson({ held, wait }: Task): boolean {
  return held !== undefined || wait.turn === "reply" || wait.turn === "confirm";
}

function stateAt(graph: Graph, node: number): State | undefined {
  return graph.workflow.states[graph.nodes[node]?.world.task.status ?? ""];
}

/** For each node whether a node that satisfies `is` can be reached from it. */
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

/**
 * A person, a counter or a limit must break every cycle. Counters and limits are part of a position, so nothing bounds
 * a cycle of positions without a person's step.
 */
export function checkCycles(graph: Graph): readonly Finding[] {
  const isMachine = (edge: number) => graph.edges[edge]?.driver === "machine";
  const atOnce = circles(graph, (edge) => isMachine(edge) && !isTimer(graph, edge));
  const told = new Set(atOnce.map(({ edges }) => statesOf(graph, edges)));
  const byTimer = circles(graph, isMachine).filter(({ edges }) => !told.has(statesOf(graph, edges)));
  const byMachine = [...atOnce, ...byTimer];
  const withAgents = circles(
    graph,
    (edge) => graph.edges[edge]?.driver === "machine" || graph.edges[edge]?.driver === "agent",
  );
  const covered = new Set(byMachine.map((circle) => statesOf(graph, circle.edges)));
  const isBounded = graph.workflow.limits.cost !== undefined || graph.workflow.limits.time !== undefined;
  return [
    ...byMachine.map(({ node, edges }): Finding => {
      const round = statesOf(graph, edges);
      const isTimed = edges.some((edge) => isTimer(graph, edge));
      return {
        // A timer that repeats is what its author wants where the task's time ends it.
        level: isTimed && graph.workflow.limits.time !== undefined ? "note" : "error",
        code: "rule-cycle",
        state: graph.nodes[node]?.world.task.status ?? "",
        message: `${isTimed ? "A timer and rules" : "Rules"} alone can move a task in a cycle without end: ${round}.`,
        fix: `Bound it with a condition such as visits < 3, ${isTimed ? "set limits: { time: … } for the task, " : ""}or add a state that waits for a person.`,
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
          message: `Agents alone can move a task in a cycle without end: ${round}.`,
          fix: "Write by: human on one of these ways, bound it with visits, or set limits: { cost: … } for the task.",
          example: exampleOf(graph, "agent-cycle", node, edges),
        };
      }),
  ];
}

/** Whether the engine continues because the time of the state has passed. */
function isTimer(graph: Graph, edge: number): boolean {
  const { from, step } = graph.edges[edge] ?? {};
  return step?.what === "continue" && stateAt(graph, from ?? -1)?.wait.kind === "time";
}

/** One cycle for each strongly connected component of positions over such edges. */
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
    // Cycles that differ only in counters are one finding for the author.
    const round = statesOf(graph, edges);
    if (edges.length > 0 && !found.has(round)) found.set(round, { node, edges });
  }
  return [...found.values()];
}

function statesOf(graph: Graph, circle: readonly number[]): string {
  const statuses = circle.map((edge) => graph.nodes[graph.edges[edge]?.from ?? 0]?.world.task.status ?? "");
  const distinct = statuses.filter((status, i) => i === 0 || status !== statuses[i - 1]);
  // Begin with the state that comes first in the file, so that the same cycle always reads the same.
  const order = Object.keys(graph.workflow.states);
  const start = distinct.reduce(
    (best, status, i) => (order.indexOf(status) < order.indexOf(distinct[best] ?? "") ? i : best),
    0,
  );
  const turned = [...distinct.slice(start), ...distinct.slice(0, start)];
  const round = turned.filter((status, i) => i === 0 || status !== turned[i - 1]);
  return [...round, round[0] ?? ""].join(" → ");
}
