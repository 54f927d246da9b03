import { explore, type Graph } from "../../../src/engine/explore/graph.ts";
import { createPositions } from "../../../src/engine/explore/position.ts";
import type { World } from "../../../src/engine/explore/world.ts";
import { createRandom } from "../../../src/engine/simulate/live.ts";
import { follow } from "../../../src/engine/simulate/simulate.ts";
import type { Task } from "../../../src/engine/task.ts";
import type { Verification } from "../../../src/engine/verify/verify.ts";
import type { Settings, Workflow } from "../../../src/engine/workflow.ts";
import { exploreNaively, type NaiveGraph, type Place, unreaching, wedgesOf } from "./explorer.ts";
import { guardsOf } from "./requests.ts";

interface Claim {
  readonly workflow: Workflow;
  readonly verification: Verification;
  /** What verify explored: one graph for each configuration. */
  readonly graphs: readonly Graph[];
  /** The places that are reached with the default settings. */
  readonly naive: NaiveGraph;
}

/** Where verify and the naive explorer contradict each other; none where verify is right. */
export function disagreements(
  { workflow, verification, graphs, naive: usual }: Claim,
  seed: number,
  bound: number,
): readonly string[] {
  const found: string[] = [];
  const drawn = drawSettings(workflow, seed);
  const naive = [usual, exploreNaively(workflow, { preset: "", settings: drawn }, bound)];
  const has = (...codes: readonly string[]) => verification.findings.some(({ code }) => codes.includes(code));
  if (verification.proved) {
    const covered = new Set(graphs.flatMap(({ nodes }) => nodes.map(({ world }) => outline(world.task))));
    for (const graph of naive) {
      const missed = graph.places.findIndex(({ task }) => !covered.has(outline(task)));
      if (missed >= 0)
        found.push(`verify never comes to ${outline((graph.places[missed] as Place).task)}: ${routeTo(graph, missed)}`);
      const [wedge] = wedgesOf(workflow, graph);
      if (wedge !== undefined) found.push(`a wedge is proved: ${routeTo(graph, wedge)}`);
      const isDone = ({ task }: Place) => workflow.states[task.status]?.outcome === "done";
      if (graph.complete && !graph.places.some(isDone)) found.push("no task can be done, and that is proved");
    }
  }
  for (const { code, state, message, example } of verification.findings) {
    const followed = example && follow(workflow, example);
    if (followed?.problem !== undefined)
      found.push(`the example of ${code} in "${state}" cannot be followed: ${followed.problem}`);
    if (code === "unreachable" && message.startsWith("No task can ever"))
      for (const graph of naive)
        if (graph.places.some(({ task }) => task.status === state)) found.push(`"${state}" is said to be unreachable`);
    const rule = code === "dead-rule" ? /^Rule (\d+)/.exec(message)?.[1] : undefined;
    if (rule !== undefined && naive.some(({ rules }) => rules.has(`${state} rule ${rule}`)))
      found.push(`rule ${rule} of "${state}" is said to be never taken`);
    const isUsual =
      example !== undefined &&
      Object.entries(example.settings).every(
        ([name, value]) => String(workflow.settings[name]?.default) === String(value),
      );
    if (usual.complete !== true || !isUsual || example?.preset !== "") continue;
    if (code === "wedge" && !wedgesOf(workflow, usual).some((node) => usual.places[node]?.task.status === state))
      found.push(`a wedge in "${state}" is none`);
    if (code === "no-success" && has("no-success")) {
      const isGood = ({ task }: Place) => ["done", "failed"].includes(workflow.states[task.status]?.outcome ?? "");
      const doomed = unreaching(usual.places, usual.next, isGood);
      const isDone = ({ task }: Place) => workflow.states[task.status]?.outcome === "done";
      const isDoomed = doomed.some((node) => usual.places[node]?.task.status === state);
      if (!isDoomed && usual.places.some(isDone)) found.push(`from "${state}" a task can be done`);
    }
  }
  return [...new Set(found)];
}

/**
 * A place that the naive explorer comes to, and verify does not, with the way there. Both are compared as verify distinguishes
 * positions, except for what each of them samples by itself: answers, and whether an effect may still fail.
 */
export function missedPlace({ workflow, preset, settings, nodes }: Graph, naive: NaiveGraph): string | undefined {
  const positions = createPositions(workflow, preset, settings);
  // Whatever verify drops, these it must not.
  const readsProtected = guardsOf(workflow).some(({ field }) => field === "protected");
  const keyOf = (world: World) => {
    const { held, wait } = world.task;
    const members = Object.values(wait.members).map(({ state }) => state);
    const beside = [world.workspace, held?.again, readsProtected && world.past.ran, ...members.sort()];
    return `${beside.join(" ")} ${positions.key(withoutSamples(world))}`;
  };
  const covered = new Set(nodes.map(({ world }) => keyOf(world)));
  const missed = naive.places.findIndex(({ task, workspace, ...past }) => {
    return !covered.has(keyOf({ task, workspace, past, sections: {} }));
  });
  return missed < 0 ? undefined : routeTo(naive, missed);
}

function withoutSamples(world: World): World {
  const { held } = world.task;
  // A closed ticket ends agents as a limit of the task does. Where it is opened again, the wait begins anew.
  const isLimit = held?.word === "ticket" && held.again !== "effects";
  const task = { ...world.task, results: {}, held: isLimit ? { ...held, word: "time" } : held };
  return { ...world, task, past: { ...world.past, owes: false } };
}

/** The graphs of every configuration that verify explores. */
export function graphsOf(
  workflow: Workflow,
  variants: readonly { preset: string; settings: Settings }[],
): readonly Graph[] {
  return variants.map(({ preset, settings }) => explore(workflow, preset, settings));
}

/** Where a task is, without what only counts. */
function outline({ status, phase, held, runs }: Task): string {
  return [status, phase, held === undefined ? "" : `held ${held.again}`, ...Object.keys(runs).sort()].join(" ");
}

function routeTo({ places, from, via }: NaiveGraph, node: number): string {
  const steps: string[] = [];
  for (let at: number | undefined = node; at !== undefined; at = from[at])
    steps.unshift(`${JSON.stringify(via[at] ?? "created")} → ${outline((places[at] as Place).task)}`);
  return steps.join("\n  ");
}

/** Other values that a task may set. */
function drawSettings({ settings }: Workflow, seed: number): Settings {
  const random = createRandom(seed);
  const pick = <T>(among: readonly T[]): T => among[Math.floor(random.next() * among.length)] as T;
  return Object.fromEntries(
    Object.entries(settings).map(([name, { default: value, min = 0, max = 9 }]) => [
      name,
      typeof value === "boolean"
        ? pick([true, false])
        : typeof value === "number"
          ? Math.min(max, Math.max(min, pick([0, 1, 2, 3, 5, 6])))
          : Array.isArray(value)
            ? pick([["a"], ["a", "b"]])
            : value,
    ]),
  );
}
