import { Graph, layout } from "@dagrejs/dagre";
import type { TaskGraph } from "../../api/task-views.ts";
import type { GraphView } from "../../api/workflows.ts";

type State = GraphView["states"][number];
type Way = GraphView["ways"][number];
type Move = TaskGraph["moves"][number];

/** Where a task is in its workflow, how it came there, and where it can go. */
export type Course = Pick<TaskGraph, "status" | "path" | "moves">;

/** across: from left to right, for wide screens. down: from top to bottom, for narrow ones. */
export type Direction = "across" | "down";

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface PlacedState {
  readonly name: string;
  /** Undefined if the workflow no longer has it. */
  readonly state: State | undefined;
  readonly isCurrent: boolean;
  /** How often the task has entered it. */
  readonly visits: number;
  /** Below the name: who works there, or what it waits for; empty if there is nothing to say. */
  readonly note: string;
  /** The middle. */
  readonly at: Point;
  readonly width: number;
  readonly height: number;
}

/** All ways between two states: one arrow. */
export interface PlacedWay {
  readonly from: string;
  readonly to: string;
  readonly ways: readonly Way[];
  /** How often the task has taken it. */
  readonly taken: number;
  /** Set if the task can take it next, or could if its gates were open. */
  readonly move: Move | undefined;
  readonly look: Look;
  /** Its lines: the words of the ways; if a task is shown, who may take the way out of the task's state. */
  readonly label: readonly string[];
  readonly labelAt: Point;
  readonly points: readonly Point[];
}

/** The later ones are drawn over the earlier ones. */
export const looks = ["escalation", "plain", "taken", "closed", "open"] as const;
export type Look = (typeof looks)[number];

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly states: readonly PlacedState[];
  readonly ways: readonly PlacedWay[];
  /** Where every state can go: arrows for all of these would hide the others. */
  readonly everywhere: readonly Way[];
}

/** Generous widths of a letter in the names of states, in notes and labels, and in labels with a border. */
const letter = 7.6;
const smallLetter = 6.3;
const borderedLetter = 7.3;
const smallLine = 14;
const maxLabelLetters = 26;
const maxLabelLines = 3;
/** Room around the text of a label, and for a lock before it. */
export const labelPadding = 6;
export const lockWidth = 13;

/**
 * Places the states and arrows of a workflow. A way that leaves every state has an arrow only where the task has taken it. The
 * same workflow and course are always placed in the same way.
 */
export function layOut(graph: GraphView, direction: Direction, course?: Course): Layout {
  const everywhere = [...new Map(graph.ways.filter((way) => way.everywhere).map((way) => [way.to, way])).values()];
  const arrows = arrowsOf(graph, course);
  const boxes = statesOf(graph, arrows, everywhere, course).map((name) => boxOf(graph, name, course));
  const dagre = new Graph({ multigraph: false, directed: true });
  dagre.setGraph({
    ...{ rankdir: direction === "across" ? "LR" : "TB", nodesep: 24, edgesep: 16, marginx: 12, marginy: 12 },
    ranksep: direction === "across" ? 44 : 34,
  });
  for (const box of boxes) dagre.setNode(box.name, { width: box.width, height: box.height });
  for (const { from, to, label, look } of arrows) {
    const height = label.length * smallLine + (label.length > 0 ? labelPadding : 0);
    dagre.setEdge(from, to, { width: labelWidth(label, look), height, labelpos: "c" });
  }
  layout(dagre);
  const { width = 0, height = 0 } = dagre.graph();
  return {
    ...{ width, height, everywhere },
    states: boxes.map((box) => {
      const { x = 0, y = 0 } = dagre.node(box.name);
      return { ...box, at: { x, y } };
    }),
    ways: arrows.map((arrow) => {
      const { points = [], x = 0, y = 0 } = dagre.edge(arrow.from, arrow.to);
      return { ...arrow, points, labelAt: { x, y } };
    }),
  };
}

/** The width of a label. That of a way out of the task's state has a border, and a lock if the way is closed. */
export function labelWidth(label: readonly string[], look: Look): number {
  if (label.length === 0) return 0;
  const letters = Math.max(...label.map(({ length }) => length));
  if (look !== "open" && look !== "closed") return letters * smallLetter;
  return letters * borderedLetter + 2 * labelPadding + (look === "closed" ? lockWidth : 0);
}

type Arrow = Omit<PlacedWay, "points" | "labelAt">;

function arrowsOf({ ways }: GraphView, course: Course | undefined): readonly Arrow[] {
  const steps = (course?.path ?? []).slice(1).map(({ state: to }, i) => ({ from: course?.path[i]?.state ?? "", to }));
  const isTaken = (way: Way) => steps.some(({ from, to }) => from === way.from && to === way.to);
  // A task that moved to another workflow has taken ways that this one does not have.
  const pairs = Map.groupBy([...ways.filter((way) => !way.everywhere || isTaken(way)), ...steps], keyOf);
  return [...pairs.entries()].flatMap(([key, [first]]) => {
    if (first === undefined) return [];
    const { from, to } = first;
    const own = ways.filter((way) => keyOf(way) === key);
    const taken = steps.filter((step) => keyOf(step) === key).length;
    const move = from === course?.status ? course.moves.find((each) => each.to === to) : undefined;
    const label = course === undefined ? labelOf(own) : move === undefined ? [] : [takersOf(move)];
    return [{ from, to, ways: own, taken, move, look: lookOf(own, taken, move), label }];
  });
}

function keyOf({ from, to }: Pick<Way, "from" | "to">): string {
  return `${from}\n${to}`;
}

function lookOf(ways: readonly Way[], taken: number, move: Move | undefined): Look {
  if (move !== undefined) return move.open ? "open" : "closed";
  if (taken > 0) return "taken";
  return ways.every(({ implied }) => implied === "escalation") ? "escalation" : "plain";
}

/** The workflow's own states in its order; then those that it no longer has. */
function statesOf(
  { states }: GraphView,
  arrows: readonly Arrow[],
  everywhere: readonly Way[],
  course: Course | undefined,
): readonly string[] {
  const needed = new Set(arrows.flatMap(({ from, to }) => [from, to]));
  if (course !== undefined) needed.add(course.status);
  const isReachedOtherwise = (name: string) => everywhere.every(({ to }) => to !== name);
  const own = states.map(({ name }) => name);
  return [
    ...own.filter((name) => needed.has(name) || isReachedOtherwise(name)),
    ...[...needed].filter((name) => !own.includes(name)),
  ];
}

function boxOf(graph: GraphView, name: string, course: Course | undefined): Omit<PlacedState, "at"> {
  const state = graph.states.find((each) => each.name === name);
  const visits = (course?.path ?? []).filter((stay) => stay.state === name).length;
  const isCurrent = name === course?.status;
  const note = isCurrent ? "● it is here" : state === undefined ? "no longer a state" : noteOf(state);
  const nameLetters = name.length + (visits > 1 ? ` ×${visits}`.length : 0);
  const width = Math.max(96, Math.max(nameLetters * letter, note.length * smallLetter) + 24);
  return { name, state, isCurrent, visits, note, width, height: note === "" ? 32 : 46 };
}

function noteOf({ kind, role, terminal, outcome }: State): string {
  if (terminal) return outcome ?? "";
  if (kind === "human") return "a person";
  return kind === "agent" || kind === "panel" ? role : (kindNames[kind] ?? "");
}

const kindNames: Partial<Record<State["kind"], string>> = {
  fan_out: "its parts",
  slot: "a free slot",
  time: "a while",
};

function takersOf({ by }: Move): string {
  return by.length === 0 ? "anyone" : cut(by.join(", "));
}

function labelOf(ways: readonly Way[]): readonly string[] {
  const lines = ways.flatMap(({ label }) => wrapped(label));
  return lines.length <= maxLabelLines ? lines : [...lines.slice(0, maxLabelLines - 1), "…"];
}

function wrapped(label: string): readonly string[] {
  const lines: string[] = [];
  for (const word of label.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < maxLabelLetters) lines[lines.length - 1] = `${last} ${word}`;
    else if (word !== "") lines.push(cut(word));
  }
  return lines;
}

function cut(text: string): string {
  return text.length > maxLabelLetters ? `${text.slice(0, maxLabelLetters - 1)}…` : text;
}
