import { fieldValues } from "../../answers/sample-answers.ts";
import { type Graph, largestBound, switchesOf } from "../explore/graph.ts";
import type { Guard, Rule, State, Workflow } from "../workflow.ts";
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

/** States that a task never enters from the states in which it starts by default. */
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

/**
 * The parts of a workflow that exploring does not cover. Where there are any, the absence of errors proves nothing, and
 * the workflow is not called proved.
 */
export function checkExplored(workflow: Workflow): readonly Finding[] {
  return [
    ...unexploredNumbers(workflow),
    ...unexploredSwitches(workflow),
    ...Object.values(workflow.states).flatMap((state) => [
      ...unexploredWork(state),
      ...unexploredLimits(state),
      ...unexploredAnswers(workflow, state),
    ]),
  ];
}

/**
 * Exploring cuts the numbers of settings to a bound. That is sound unless they are compared with larger constants too.
 */
function unexploredNumbers(workflow: Workflow): readonly Finding[] {
  const guards = guardsOf(workflow);
  const compared = new Set(
    guards.flatMap((guard) => [
      ...(guard.source === "setting" ? [guard.field] : []),
      ...(typeof guard.value === "object" ? [guard.value.setting] : []),
    ]),
  );
  return [...compared].flatMap((name) => {
    const values = [workflow.settings[name]?.default, ...Object.values(workflow.presets).map((each) => each[name])];
    const isLarge = values.some((value) => typeof value === "number" && value > largestBound);
    if (!isLarge && !meetsLargerConstant(workflow, guards, name)) return [];
    const what = `How the setting "${name}" compares above ${largestBound}`;
    return [unexplored("", what, `Compare with numbers up to ${largestBound} to have it proved.`)];
  });
}

/** Whether a task can set a number above the constants that the file compares the same field with. */
function meetsLargerConstant(workflow: Workflow, guards: readonly Guard[], name: string): boolean {
  const { max = Number.POSITIVE_INFINITY } = workflow.settings[name] ?? {};
  if (max <= largestBound) return false;
  const fields = guards.flatMap((guard) =>
    typeof guard.value === "object" && guard.value.setting === name ? [guard.field] : [],
  );
  return guards.some(
    ({ field, value }) =>
      typeof value === "number" && value > largestBound && (fields.includes(field) || field === name),
  );
}

function unexploredSwitches(workflow: Workflow): readonly Finding[] {
  const presets = Object.keys(workflow.presets).length > 0 ? Object.keys(workflow.presets) : [""];
  const left = presets.map((preset) => switchesOf(workflow, preset).left).find((names) => names.length > 0);
  if (left === undefined) return [];
  const names = left.map((name) => `"${name}"`).join(", ");
  return [
    unexplored("", `The effect of the further switches (${names})`, "Compare at most four switches in conditions."),
  ];
}

/** Exploring forgets the evidence of a session and the answers of a panel during `do`. */
function unexploredWork(state: State): readonly Finding[] {
  if (state.do.length === 0) return [];
  const { wait } = state;
  const isSession = wait.kind === "agent" && wait.run.mode === "session";
  const readsAnswer = state.rules.some((rule) => rule.result !== undefined || rule.artifact !== undefined);
  const isGated = Object.values(state.out).some((ways) => ways.some((way) => way.gates.length > 0));
  if (!isSession && !(wait.kind === "panel" && (readsAnswer || isGated))) return [];
  const what = `What the ${isSession ? "session" : "panel"} of "${state.name}" leaves to its "do"`;
  return [unexplored(state.name, what, "Move the actions of do into a state of their own, behind this one.")];
}

function unexploredLimits(state: State): readonly Finding[] {
  const limit = (["time", "cost"] as const).find((each) => state.limits[each] !== undefined);
  if (limit === undefined || state.do.length === 0) return [];
  const what = `That "${limit}" of "${state.name}" can end during its "do"`;
  return [unexplored(state.name, what, "Move the actions of do into a state of their own, behind this one.")];
}

/** Exploring samples answers field by field, which is complete only where the values can be listed. */
function unexploredAnswers(workflow: Workflow, state: State): readonly Finding[] {
  const { wait } = state;
  const run = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : undefined;
  const schema = run?.result === undefined ? undefined : workflow.schemas[run.result];
  if (schema === undefined) return [];
  const fields = [...state.rules.flatMap(resultFields), ...Object.keys(run?.until ?? {})];
  return [...new Set(fields)]
    .filter((field) => fieldValues(schema, field) === undefined)
    .map((field) =>
      unexplored(
        state.name,
        `Every value of "${field}" that the rules of "${state.name}" compare`,
        `Make "${field}" a boolean, or give it an enum.`,
      ),
    );
}

function resultFields(rule: Rule): readonly string[] {
  return Object.keys(rule.result ?? {});
}

function guardsOf(workflow: Workflow): readonly Guard[] {
  const inStates = Object.values(workflow.states).flatMap((state) => [
    ...state.unless,
    ...state.evidence,
    ...state.rules.flatMap((rule) => rule.when),
  ]);
  return [...workflow.ways.flatMap((way) => way.when), ...inStates];
}

function unexplored(state: string, what: string, fix: string): Finding {
  return {
    level: "warning",
    code: "unexplored",
    state,
    message: `${what} is not explored.`,
    fix,
    example: undefined,
  };
}
