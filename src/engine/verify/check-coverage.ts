import { fieldValues, samplesDiffer } from "../../answers/read-answer.ts";
import type { Configurations } from "../explore/configurations.ts";
import { type Graph, reachedUsually } from "../explore/graph.ts";
import { comparedValues } from "../explore/stimuli.ts";
import type { State, Workflow } from "../workflow.ts";
import { exampleOf, type Finding } from "./finding.ts";

/** A task that is over must have released its workspace; its runs end with it in any case. */
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

/** States that no task is ever in, and those in which tasks are only created. */
export function unreachedStates(graph: Graph): { readonly never: readonly string[]; readonly only: readonly string[] } {
  const entered = new Set<string>();
  const created = new Set<string>();
  for (const { world } of graph.nodes) entered.add(world.task.status);
  for (const root of graph.roots.keys()) created.add(graph.nodes[root]?.world.task.status ?? "");
  const usual = new Set([graph.workflow.initial[0], graph.workflow.unclear]);
  const led = new Set(
    graph.edges.flatMap(({ to, cause }) => (cause === "" ? [] : [graph.nodes[to]?.world.task.status ?? ""])),
  );
  const names = Object.keys(graph.workflow.states);
  return {
    never: names.filter((name) => !entered.has(name)),
    only: names.filter((name) => created.has(name) && !led.has(name) && !usual.has(name)),
  };
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
  const usual = reachedUsually(graph);
  return [...graph.held].flatMap(([state, all]): Finding[] => {
    const words = new Map([...all].filter(([, edge]) => usual[graph.edges[edge]?.from ?? -1]));
    const [edge] = words.values();
    const from = edge === undefined ? undefined : graph.edges[edge]?.from;
    if (edge === undefined || from === undefined) return [];
    return [
      {
        level: "note",
        code: "held",
        state,
        message: `"${state}" can be held for a person after it ended with ${[...words.keys()].join(", ")}.`,
        fix: "",
        example: exampleOf(graph, "held", from, [edge]),
      },
    ];
  });
}

/**
 * The parts of a workflow that exploring does not cover. Where there are any, the absence of errors proves nothing, and
 * the workflow is not called proved.
 */
export function checkExplored(workflow: Workflow, { left, tried }: Configurations): readonly Finding[] {
  return [
    ...(left.length === 0 ? [] : [unexploredSettings(left, tried.length)]),
    ...Object.values(workflow.states).flatMap((state) => unexploredAnswers(workflow, state)),
  ];
}

function unexploredSettings(left: readonly string[], tried: number): Finding {
  const names = left.map((name) => `"${name}"`).join(", ");
  return unexplored(
    "",
    `Every combination of the settings that conditions read (${names}; explored up to ${tried} configurations)`,
    "Compare fewer settings in conditions, or limit their values with one_of, min and max.",
  );
}

/** An answer's field is tried with each value that rules compare it with, and with another one. */
function unexploredAnswers(workflow: Workflow, state: State): readonly Finding[] {
  const { wait } = state;
  const run = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : undefined;
  const schema = run?.result === undefined ? undefined : workflow.schemas[run.result];
  if (schema === undefined) return [];
  const compared = comparedValues(workflow, state, run?.until ?? {});
  const unknown = Object.entries(compared).filter(([field, values]) => !samplesDiffer(schema, field, values));
  const count = Object.entries(compared).reduce(
    (product, [field, values]) => product * ((fieldValues(schema, field) ?? values).length + 2),
    1,
  );
  return [
    ...unknown.map(([field]) =>
      unexplored(
        state.name,
        `Every value of "${field}" that the rules of "${state.name}" compare`,
        `Make "${field}" a boolean, or give it an enum.`,
      ),
    ),
    ...(count <= maxAnswers
      ? []
      : [
          unexplored(
            state.name,
            `Every combination of the ${Object.keys(compared).length} fields that the rules of "${state.name}" compare`,
            "Compare fewer fields, or give them fewer values.",
          ),
        ]),
  ];
}

// Of more combinations, answers are sampled field by field.
const maxAnswers = 1_000;

function unexplored(state: string, what: string, fix: string): Finding {
  return { level: "warning", code: "unexplored", state, message: `${what} is not explored.`, fix, example: undefined };
}
