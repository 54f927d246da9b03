import type { Graph } from "../explore/graph.ts";
import { ownsSection } from "../gate.ts";
import type { Way } from "../workflow.ts";
import { exampleOf, type Finding } from "./finding.ts";

/** Every gate needs a role that can write its section while the task is in the state before it. */
export function checkProducers(graph: Graph): readonly Finding[] {
  const alive = rolesAlive(graph);
  return graph.workflow.ways.flatMap((way) => {
    const here = alive.get(way.from);
    if (here === undefined || way.implied !== undefined) return [];
    return [
      ...way.gates.flatMap((gate) => producerFinding(graph, way, gate.section, here.roles, here.node)),
      ...askerFinding(graph, way, here.roles, here.node),
    ];
  });
}

function producerFinding(
  graph: Graph,
  way: Way,
  section: string,
  roles: ReadonlySet<string>,
  node: number,
): readonly Finding[] {
  if (["human", ...roles].some((role) => ownsSection(graph.workflow, role, section))) return [];
  const owners = graph.workflow.owners[section] ?? [];
  const who = `only ${owners.join(" or ")} can write it, which never runs there`;
  return [
    {
      level: "error",
      code: "gate-without-producer",
      state: way.from,
      message: `The gate from "${way.from}" to "${way.to}" asks for ## ${section}, but ${who}.`,
      fix: `Let ${owners[0]} run in "${way.from}", or drop the gate.`,
      example: exampleOf(graph, "gate-without-producer", node),
    },
  ];
}

/** A way whose askers never run in its first state can only be taken by rules, if at all. */
function askerFinding(graph: Graph, way: Way, roles: ReadonlySet<string>, node: number): readonly Finding[] {
  const askers = way.by ?? ["human"];
  if (askers.some((role) => role === "human" || role === "engine" || roles.has(role))) return [];
  const isRuled = graph.workflow.states[way.from]?.rules.some(({ does }) => does.kind === "then" && does.to === way.to);
  if (isRuled) return [];
  return [
    {
      level: "warning",
      code: "nobody-asks",
      state: way.from,
      message: `No role can ever ask for the way from "${way.from}" to "${way.to}": ${askers.join(" and ")} never run${askers.length === 1 ? "s" : ""} there.`,
      fix: "Change `by`, or start that role in the state.",
      example: exampleOf(graph, "nobody-asks", node),
    },
  ];
}

/** With the same evidence, an asker must not be free to choose between two targets. */
export function checkChoices(graph: Graph): readonly Finding[] {
  const found = new Map<string, Finding>();
  for (const [node, { world }] of graph.nodes.entries()) {
    const asked = new Map<string, { to: string; edge: number }>();
    for (const number of graph.out[node] ?? []) {
      const edge = graph.edges[number];
      if (edge?.driver !== "agent" || edge.step.sections === undefined || edge.step.to === undefined) continue;
      const evidence = `${edge.step.by}\n${JSON.stringify(edge.step.sections)}`;
      const other = asked.get(evidence);
      if (other === undefined) asked.set(evidence, { to: edge.step.to, edge: number });
      else if (other.to !== edge.step.to) {
        const { status } = world.task;
        const key = [status, ...[other.to, edge.step.to].sort()].join("\n");
        if (found.has(key)) continue;
        found.set(key, {
          level: "warning",
          code: "choice",
          state: status,
          message: `In "${status}" the ${edge.step.by} may choose between "${other.to}" and "${edge.step.to}" with the same evidence.`,
          fix: "Make the conditions of the two ways exclusive.",
          example: exampleOf(graph, "choice", node),
        });
      }
    }
  }
  return [...found.values()];
}

/** A state that is guarded by evidence must not have another way in that an agent can take without it. */
export function checkBypasses(graph: Graph): readonly Finding[] {
  const found = new Map<string, Finding>();
  const guards = (way: Way) => way.gates.some((gate) => gate.verdict !== "FAIL");
  const { states, ways } = graph.workflow;
  for (const state of Object.values(states)) {
    const into = ways.filter((way) => way.to === state.name && way.implied !== "escalation");
    const guarded = into.filter(guards);
    if (guarded.length === 0) continue;
    // Ways for people and the engine are the author's intention; only a way that an agent may ask for is a bypass.
    const doors = into.filter(
      (way) =>
        way.gates.length === 0 &&
        (way.by === undefined || way.by.some((role) => role !== "human" && role !== "engine")),
    );
    const isOpenAnyway = doors.some((way) => way.from === graph.workflow.initial[0]);
    if (isOpenAnyway) continue;
    for (const number of graph.edges.keys()) {
      const edge = graph.edges[number];
      if (edge?.driver !== "agent" || edge.step.to !== state.name || edge.step.sections !== undefined) continue;
      const from = graph.nodes[edge.from]?.world.task.status ?? "";
      const key = `${from}\n${state.name}`;
      if (found.has(key) || !doors.some((way) => way.from === from)) continue;
      const gate = guarded[0]?.gates[0]?.section ?? "";
      found.set(key, {
        level: "warning",
        code: "bypass",
        state: from,
        message: `The ${edge.step.by} alone can go from "${from}" to "${state.name}" without ## ${gate}, which guards it elsewhere.`,
        fix: `Add by: human or the gate to the transition from "${from}".`,
        example: exampleOf(graph, "bypass", edge.from, [number]),
      });
    }
  }
  return [...found.values()];
}

/** The role whose work is judged must not be able to give the verdict itself. */
export function checkSelfReview(graph: Graph): readonly Finding[] {
  const found = new Map<string, Finding>();
  const authors = handedOverBy(graph);
  for (const number of graph.edges.keys()) {
    const edge = graph.edges[number];
    if (edge?.driver !== "agent") continue;
    const before = graph.nodes[edge.from]?.world.task;
    const way = graph.workflow.states[before?.status ?? ""]?.out[edge.step.to ?? ""]?.find((each) =>
      each.gates.some((gate) => gate.verdict !== undefined),
    );
    if (before === undefined || way === undefined || edge.step.sections === undefined) continue;
    const judges = graph.workflow.owners[way.gates.find((gate) => gate.verdict !== undefined)?.section ?? ""] ?? [];
    const key = `${before.status}\n${edge.step.by}`;
    if (found.has(key) || (judges.includes(edge.step.by) && judges.length === 1)) continue;
    if (way.by !== undefined && judges.length === 1) continue;
    // Several roles may judge: a role that only judges is accused of nothing.
    const isAuthor = authors.get(before.status)?.has(edge.step.by) === true;
    if (!isAuthor && graph.workflow.judges.includes(edge.step.by)) continue;
    found.set(key, {
      level: "warning",
      code: "self-review",
      state: before.status,
      message: `The ${edge.step.by} can give the verdict in "${before.status}" itself, although ${judges.find((judge) => judge !== edge.step.by) ?? "another role"} should judge.`,
      fix: `Say by: ${judges.find((judge) => judge !== edge.step.by) ?? "…"} on the ways out of "${before.status}".`,
      example: exampleOf(graph, "self-review", edge.from, [number]),
    });
  }
  return [...found.values()];
}

/** For each state, the roles that can bring a task there without giving a verdict: it is their work that is judged there. */
function handedOverBy({ nodes, edges, workflow }: Graph): ReadonlyMap<string, ReadonlySet<string>> {
  const roles = new Map<string, Set<string>>();
  for (const { driver, from, step } of edges) {
    if (driver !== "agent" || step.to === undefined) continue;
    const ways = workflow.states[nodes[from]?.world.task.status ?? ""]?.out[step.to] ?? [];
    if (ways.some(({ gates }) => gates.some(({ verdict }) => verdict !== undefined))) continue;
    roles.set(step.to, (roles.get(step.to) ?? new Set<string>()).add(step.by));
  }
  return roles;
}

/** The roles that can be alive in each state, and a position as an example. */
function rolesAlive(graph: Graph): ReadonlyMap<string, { roles: ReadonlySet<string>; node: number }> {
  const alive = new Map<string, { roles: Set<string>; node: number }>();
  for (const [node, { world }] of graph.nodes.entries()) {
    const entry = alive.get(world.task.status) ?? { roles: new Set<string>(), node };
    for (const name of Object.keys(world.task.runs)) entry.roles.add(name.split("/")[0] ?? name);
    alive.set(world.task.status, entry);
  }
  return alive;
}
