import type { Graph } from "../explore/graph.ts";
import { exampleOf } from "./example.ts";
import type { Finding } from "./finding.ts";

/** No workspace may be left bound when a task is over; its runs end with it in any case. */
export function checkLeaks(graph: Graph): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const [node, { world }] of graph.nodes.entries()) {
    if (world.task.phase !== "over") continue;
    if (!world.workspace || found.has(world.task.status)) continue;
    found.set(world.task.status, {
      level: "warning",
      code: "leak",
      state: world.task.status,
      message: `A task can end in "${world.task.status}" with its workspace still bound.`,
      fix: "Add release_workspace to the hooks of the way there.",
      example: exampleOf(graph, "leak", node),
    });
  }
  return [...found.values()];
}

/** States that a task never enters from where it starts by itself. */
export function unreachedStates(graph: Graph): readonly string[] {
  const starts = graph.roots.filter((node) => {
    const { created } = graph.nodes[node] ?? {};
    return created === graph.workflow.initial[0] || created === graph.workflow.unclear;
  });
  const seen = new Set(starts);
  const queue = [...starts];
  const statuses = new Set<string>();
  for (const node of queue) {
    statuses.add(graph.nodes[node]?.world.task.status ?? "");
    for (const number of graph.out[node] ?? []) {
      const to = graph.edges[number]?.to ?? node;
      if (seen.has(to)) continue;
      seen.add(to);
      queue.push(to);
    }
  }
  return Object.keys(graph.workflow.states).filter((name) => !statuses.has(name));
}

/** Rules that are never taken, as `state rule-number`. */
export function unusedRules(graph: Graph): ReadonlySet<string> {
  const used = new Set<string>();
  for (const edge of graph.edges) {
    const status = graph.nodes[edge.from]?.world.task.status ?? "";
    if (edge.cause.startsWith("rule ")) used.add(`${status} ${Number(edge.cause.slice(5))}`);
  }
  const unused = new Set<string>();
  for (const state of Object.values(graph.workflow.states)) {
    for (const i of state.rules.keys()) if (!used.has(`${state.name} ${i + 1}`)) unused.add(`${state.name} ${i + 1}`);
  }
  return unused;
}

/** Endings that no rule covers: the task is held for a person. */
export function heldNotes(graph: Graph): readonly Finding[] {
  const held = new Map<string, { words: Set<string>; node: number }>();
  for (const [node, { world }] of graph.nodes.entries()) {
    const { task } = world;
    if (task.held === undefined) continue;
    const entry = held.get(task.status) ?? { words: new Set(), node };
    entry.words.add(task.held.word);
    held.set(task.status, entry);
  }
  return [...held].map(([state, { words, node }]) => ({
    level: "note",
    code: "held",
    state,
    message: `"${state}" can be held for a person after it ended with ${[...words].join(", ")}.`,
    fix: "",
    example: exampleOf(graph, "held", node),
  }));
}
