import dagre from "@dagrejs/dagre";
import type { TaskGraph } from "../../api/task-views.ts";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PlacedState extends Point {
  readonly name: string;
  readonly width: number;
  readonly height: number;
}

export interface PlacedWay {
  readonly from: string;
  readonly to: string;
  readonly points: readonly Point[];
  /** Where its label has room; missing for a way without one. */
  readonly label: Point | undefined;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly states: readonly PlacedState[];
  readonly ways: readonly PlacedWay[];
}

const stateHeight = 44;
/** The width of a character of the state's name, and of a label; a little more than any usual font has. */
const nameWidth = 8;
const labelWidth = 7;
const margin = 10;

/** What is drawn: the states, and one arrow for all ways from one to another. `label` is what the arrow says. */
export interface DrawnWay {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** Places states and arrows. The same workflow is always placed in the same way. */
export function layOut(states: readonly string[], ways: readonly DrawnWay[], direction: "LR" | "TB"): Layout {
  const graph = new dagre.graphlib.Graph({ multigraph: false });
  graph.setGraph({ rankdir: direction, nodesep: 22, ranksep: 44, edgesep: 14, marginx: margin, marginy: margin });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const name of states)
    graph.setNode(name, { width: Math.max(100, name.length * nameWidth + 30), height: stateHeight });
  for (const { from, to, label } of ways) {
    const room = label === "" ? {} : { width: label.length * labelWidth + 26, height: 18, labelpos: "c" as const };
    graph.setEdge(from, to, room);
  }
  dagre.layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    ...{ width, height },
    states: states.map((name) => {
      const { x, y, width: w, height: h } = graph.node(name) as PlacedState;
      return { name, x, y, width: w, height: h };
    }),
    ways: ways.map(({ from, to, label }) => {
      const { points, x, y } = graph.edge(from, to) as { points: readonly Point[]; x?: number; y?: number };
      const place = label === "" || x === undefined || y === undefined ? undefined : { x, y };
      return { from, to, points, label: place };
    }),
  };
}

/** What of a task's graph is drawn: ways that leave every state are said in words, or they would hide all others. */
export function drawnOf({ graph, path, status, moves }: TaskGraph): {
  readonly states: readonly string[];
  readonly ways: readonly DrawnWay[];
  /** Where a task can go from every state. */
  readonly everywhere: readonly string[];
} {
  const steps = stepsOf(path);
  const own = graph.ways.filter(({ everywhere }) => !everywhere);
  const shared = graph.ways.filter(({ everywhere }) => everywhere);
  const pairs = new Map<string, DrawnWay>();
  const add = (from: string, to: string) => {
    const move = from === status ? moves.find((each) => each.to === to) : undefined;
    pairs.set(`${from} ${to}`, { from, to, label: move?.by.join(", ") ?? "" });
  };
  for (const { from, to } of own) add(from, to);
  for (const { from, to } of steps.values()) add(from, to);
  const isDrawn = new Set([status, ...[...pairs.values()].flatMap(({ from, to }) => [from, to])]);
  const known = graph.states.map(({ name }) => name);
  // After a migration the path has states that the workflow no longer has.
  const former = [...isDrawn].filter((name) => !known.includes(name));
  return {
    states: [...known.filter((name) => isDrawn.has(name)), ...former],
    ways: [...pairs.values()],
    everywhere: [...new Set(shared.map(({ to }) => to))],
  };
}

export interface Step {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** The steps that the task has taken, by `from to`, and how often. */
export function stepsOf(path: TaskGraph["path"]): ReadonlyMap<string, Step> {
  const steps = new Map<string, Step>();
  path.forEach(({ state: to }, i) => {
    const from = path[i - 1]?.state;
    if (from === undefined) return;
    const key = `${from} ${to}`;
    steps.set(key, { from, to, count: (steps.get(key)?.count ?? 0) + 1 });
  });
  return steps;
}
