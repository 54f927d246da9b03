import { Graph, layout } from "@dagrejs/dagre";
import type { GraphView } from "../../api/workflows.ts";

type State = GraphView["states"][number];
type Way = GraphView["ways"][number];

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PlacedState {
  readonly state: State;
  /** The middle. */
  readonly at: Point;
  readonly width: number;
  readonly height: number;
}

/** All ways between two states: one line. */
export interface PlacedWay {
  readonly from: string;
  readonly to: string;
  readonly ways: readonly Way[];
  readonly label: readonly string[];
  readonly points: readonly Point[];
  readonly labelAt: Point;
}

export interface PlacedGraph {
  readonly width: number;
  readonly height: number;
  readonly states: readonly PlacedState[];
  readonly ways: readonly PlacedWay[];
  /** Where every state can go: drawing each of these lines would hide the others. */
  readonly everywhere: readonly Way[];
}

/** Widths of letters in the page's small and smaller size, generously. */
const letter = 7.6;
const smallLetter = 6.1;
const smallLine = 14;
const maxLabel = 26;
const maxLabelLines = 3;

/**
 * Places a workflow's states in layers from above. Ways that leave every state are left out, unless `taken` names them: those are
 * pairs of states that the task has gone between.
 */
export function placeGraph(
  { states, ways }: GraphView,
  taken: readonly (readonly [string, string])[] = [],
): PlacedGraph {
  const isTaken = (way: Way) => taken.some(([from, to]) => from === way.from && to === way.to);
  const drawn = ways.filter((way) => !way.everywhere || isTaken(way));
  const everywhere = [...new Map(ways.filter((way) => way.everywhere).map((way) => [way.to, way])).values()];
  const ends = new Set(drawn.flatMap(({ from, to }) => [from, to]));
  const isReachedOtherwise = (name: string) => everywhere.every(({ to }) => to !== name);
  const shown = states.filter(({ name }) => ends.has(name) || isReachedOtherwise(name));
  const graph = new Graph({ multigraph: false, directed: true });
  graph.setGraph({ rankdir: "TB", nodesep: 28, edgesep: 16, ranksep: 34, marginx: 12, marginy: 12 });
  for (const state of shown)
    graph.setNode(state.name, {
      width: Math.max(96, Math.max(state.name.length * letter, noteOf(state).length * smallLetter) + 24),
      height: noteOf(state) === "" ? 32 : 46,
    });
  const pairs = [...Map.groupBy(drawn, ({ from, to }) => `${from}\n${to}`).values()];
  const labels = pairs.map((all) => labelOf(all));
  for (const [i, [first]] of pairs.entries()) {
    const label = labels[i] ?? [];
    if (first === undefined) continue;
    const width = Math.max(0, ...label.map((line) => line.length)) * smallLetter;
    graph.setEdge(first.from, first.to, { width, height: label.length * smallLine, labelpos: "c" });
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    ...{ width, height, everywhere },
    states: shown.map((state) => {
      const { x = 0, y = 0, width: w, height: h } = graph.node(state.name);
      return { state, at: { x, y }, width: w, height: h };
    }),
    ways: pairs.flatMap((all, i) => {
      const [first] = all;
      if (first === undefined) return [];
      const { points = [], x = 0, y = 0 } = graph.edge(first.from, first.to);
      const { from, to } = first;
      return [{ from, to, ways: all, label: labels[i] ?? [], points, labelAt: { x, y } }];
    }),
  };
}

/** Below a state's name: who works there. */
export function noteOf({ kind, role, terminal, outcome }: State): string {
  if (terminal) return outcome ?? "";
  if (kind === "human") return "a person";
  return kind === "agent" || kind === "panel" ? role : kind === "none" ? "" : (kindNames[kind] ?? "");
}

const kindNames: Partial<Record<State["kind"], string>> = {
  fan_out: "its parts",
  slot: "a free slot",
  time: "a while",
};

function labelOf(ways: readonly Way[]): readonly string[] {
  const lines = ways.flatMap(({ label }) => wrapped(label));
  return lines.length <= maxLabelLines ? lines : [...lines.slice(0, maxLabelLines - 1), "…"];
}

function wrapped(label: string): readonly string[] {
  const lines: string[] = [];
  for (const word of label.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < maxLabel) lines[lines.length - 1] = `${last} ${word}`;
    else if (word !== "") lines.push(word.length > maxLabel ? `${word.slice(0, maxLabel - 1)}…` : word);
  }
  return lines;
}
