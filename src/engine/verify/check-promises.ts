import type { Graph } from "../explore/graph.ts";
import { whyBroken } from "../promises.ts";
import { mayCommit } from "../proofs.ts";
import type { AuthorsPromise, Workflow } from "../workflow.ts";
import { type Example, exampleAlong, type Finding } from "./finding.ts";

/** What exploring says about one promise of the author. */
export interface PromiseResult {
  /** The promise as one line of YAML. */
  readonly promise: string;
  /** unproved: it was not broken as far as the workflow was explored, which is not everything. */
  readonly result: "proved" | "broken" | "unproved";
}

/**
 * The promises that some life of a task breaks, each with a shortest one. For each promise, every position is visited once with
 * every value of what counts for the promise: whether its evidence is there, or how often the state was entered.
 */
export function checkPromises(graph: Graph): readonly Broken[] {
  return graph.workflow.promises.flatMap((promise, place) => {
    const path = shortestBreak(graph, promise, place);
    return path === undefined
      ? []
      : [{ promise, example: exampleAlong(graph, promise.written, path.root, path.edges) }];
  });
}

/** A promise that some life breaks. */
export interface Broken {
  readonly promise: AuthorsPromise;
  readonly example: Example;
}

/** A finding for each of these promises that is broken, with the shortest example of all configurations. */
export function shortestBreaks(all: readonly Broken[], { promises, initial }: Workflow): readonly Finding[] {
  return promises.flatMap((promise): readonly Finding[] => {
    const lives = all.filter(({ promise: { written } }) => written === promise.written);
    const [first] = lives.toSorted((a, b) => a.example.steps.length - b.example.steps.length);
    if (first === undefined) return [];
    return [
      {
        level: "error",
        code: "promise",
        state: promise.kind === "within" ? promise.of : promise.kind === "never_same_run_as" ? "" : promise.to,
        message: `The promise ${promise.written} does not hold: ${whyBroken(promise)}`,
        fix: `${fixOf(promise)}${first.example.created === initial[0] ? "" : whereCreated(first.example.created, initial[0])}`,
        example: first.example,
      },
    ];
  });
}

/** The author may not know that tasks can be created in the middle of the workflow. */
function whereCreated(created: string, first = ""): string {
  return ` This task is created in "${created}": if tasks start in "${first}" only, say initial: ${first}.`;
}

function fixOf(promise: AuthorsPromise): string {
  switch (promise.kind) {
    case "after": {
      const { evidence } = promise;
      const names = "by" in evidence && evidence.by !== undefined && !evidence.by.includes("human");
      const person = names ? ", or name human in by: if a person's own move counts too" : "";
      return `Close the last way of the example, or lead the task through what the promise asks for once nobody at work can commit any more${person}.`;
    }
    case "never_by":
      // A rule that follows a state's own work is the engine's, whatever the way says.
      if (promise.roles.includes("engine"))
        return `Remove the rule (next, then) that leads to "${promise.to}" by itself, and let a person ask: a way with by: human.`;
      return `Write by: on the last way of the example, without ${promise.roles.join(" and ")}.`;
    case "never_same_run_as":
      return `Let ${promise.role} run there instead of ${promise.other}.`;
    case "within":
      // The first visit leads back, too, so a bound of n lets a task come back n - 1 times.
      return promise.visits === 1
        ? "Remove the way back, or lead it to a state that waits for a person."
        : `Bound the way back with visits < ${promise.visits} (each state counts its own visits), or lead it to a state that waits for a person.`;
  }
}

/** The root of a life, and the steps that it takes. */
interface Path {
  readonly root: number;
  readonly edges: readonly number[];
}

/** More than this many pairs of position and value are not visited. */
const maxPairs = 40_000_000;

/** Whether there are too many pairs of positions and values to check the promise. */
export function isTooLarge(positions: number, promise: AuthorsPromise): boolean {
  return positions * valuesOf(promise) > maxPairs;
}

function shortestBreak(graph: Graph, promise: AuthorsPromise, place: number): Path | undefined {
  if (isTooLarge(graph.nodes.length, promise)) return undefined;
  const width = valuesOf(promise);
  const after = stepFor(graph, promise);
  // How a pair was reached: the edge, and the pair before it.
  const via = new Int32Array(graph.nodes.length * width).fill(unvisited);
  const before = new Int32Array(via.length);
  const queue: number[] = [];
  let at = 0;
  // One start after the other, the usual one first, so that tasks that are created in the middle hide no other life.
  for (const root of graph.roots.keys()) {
    const start = root * width + firstValue(graph, promise, root);
    if (via[start] !== unvisited) continue;
    via[start] = none;
    queue.push(start);
    for (; at < queue.length; at++) {
      const pair = queue[at] ?? 0;
      const node = Math.floor(pair / width);
      for (const number of graph.out[node] ?? []) {
        const edge = graph.edges[number];
        if (edge === undefined) continue;
        const value = after(node, pair % width, edge.marks === "" ? "-" : (edge.marks[place] ?? "-"));
        if (value === undefined) return pathTo(via, before, width, pair, number);
        const next = edge.to * width + value;
        if (via[next] !== unvisited) continue;
        via[next] = number;
        before[next] = pair;
        queue.push(next);
      }
    }
  }
  return undefined;
}

const unvisited = -2;
const none = -1;

function pathTo(via: Int32Array, before: Int32Array, width: number, last: number, breaking: number): Path {
  const edges = [breaking];
  let pair = last;
  for (let edge = via[pair] ?? none; edge !== none; edge = via[pair] ?? none) {
    edges.unshift(edge);
    pair = before[pair] ?? 0;
  }
  return { root: Math.floor(pair / width), edges };
}

function valuesOf(promise: AuthorsPromise): number {
  return promise.kind === "within" ? promise.visits + 1 : promise.kind === "after" ? 2 : 1;
}

function firstValue(graph: Graph, promise: AuthorsPromise, root: number): number {
  return promise.kind === "within" && graph.nodes[root]?.world.task.status === promise.of ? 1 : 0;
}

/** The value after a step, by what counted before and the mark of the step; undefined where the step breaks the promise. */
type StepOf = (node: number, value: number, mark: string) => number | undefined;

function stepFor(graph: Graph, promise: AuthorsPromise): StepOf {
  switch (promise.kind) {
    case "after": {
      // Whoever is at work may commit before the next step, and then the evidence is about other work.
      const moves = movesOf(graph);
      return (node, value, mark) => {
        const given = mark === "g" || mark === "G";
        const kept = value === 1 && !moves[node] && mark !== "w" && mark !== "W";
        const enters = mark === "a" || mark === "G" || mark === "W";
        if (enters && !given && !kept) return undefined;
        return given || kept ? 1 : 0;
      };
    }
    case "within":
      return (_, value, mark) => {
        const count = mark === "-" ? value : mark === "e" ? value + 1 : Number(mark);
        return count > promise.visits ? undefined : count;
      };
    default:
      return (_, value, mark) => (mark === "x" ? undefined : value);
  }
}

/** For each position whether the work may move before the next step. */
function movesOf(graph: Graph): readonly boolean[] {
  const found = moving.get(graph) ?? graph.nodes.map(({ world }) => mayCommit(graph.workflow, world.task));
  moving.set(graph, found);
  return found;
}

// A cache: all promises of a file ask the same.
const moving = new WeakMap<Graph, readonly boolean[]>();
