import type { RunView } from "../api/agent-wires.ts";
import type { TaskView } from "../api/task-wires.ts";
import { clip, displayWidth, fill } from "./display-width.ts";
import type { Paint } from "./paint.ts";
import { visible } from "./visible.ts";
import type { Board, Need } from "./watch-board.ts";
import { writeAge } from "./write-time.ts";
import { writeCost, writeCosts, writeTokens } from "./write-usage.ts";

export interface Frame {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  readonly now: number;
  /** Whose tasks are shown; empty for those of all projects. */
  readonly title: string;
  /** Why nothing is new; empty where everything is. */
  readonly trouble: string;
}

/** A task on the screen. */
export interface Entry {
  readonly row: string;
  /** What it needs, says or does; empty where there is nothing. */
  readonly note: string;
  readonly isNeeded: boolean;
}

type Cells = Readonly<Record<keyof Widths, string>>;
/** 0 where there is no room for the column. */
export interface Widths {
  readonly mark: number;
  readonly id: number;
  readonly name: number;
  readonly status: number;
  readonly summary: number;
  readonly agent: number;
  readonly age: number;
  readonly tokens: number;
  readonly cost: number;
}

const leastSummary = 18;

/** Columns give way one after the other where the terminal is narrow, the summary last. */
export function widthsOf(board: Board, frame: Frame): Widths {
  const { tasks } = board;
  const longest = (texts: readonly string[], least: number, most: number) =>
    Math.min(most, Math.max(least, ...texts.map(displayWidth)));
  const hasUsage = tasks.some(({ id }) => board.usage.has(id));
  const isMixed = new Set(tasks.map(({ project }) => project)).size > 1;
  const wanted = {
    mark: 1,
    id: longest(
      tasks.map(({ id }) => id),
      2,
      8,
    ),
    status: longest(
      tasks.map(({ status }) => status),
      6,
      16,
    ),
    age: 4,
    agent: longest(
      tasks.map((task) => agentOf(runsOf(task, board), frame.now)),
      5,
      20,
    ),
    cost: hasUsage ? 7 : 0,
    tokens: hasUsage ? 6 : 0,
    name: isMixed
      ? longest(
          tasks.map(({ project, number }) => `${project}#${number}`),
          4,
          16,
        )
      : 0,
  };
  const widths = { mark: 0, id: 0, name: 0, status: 0, summary: 0, agent: 0, age: 0, tokens: 0, cost: 0 };
  let free = frame.columns - leastSummary;
  for (const [name, width] of Object.entries(wanted) as [keyof typeof wanted, number][]) {
    if (width === 0 || free < width + 2) continue;
    widths[name] = width;
    free -= width + 2;
  }
  return { ...widths, summary: Math.max(0, leastSummary + free) };
}

export function entryOf(task: TaskView, board: Board, frame: Frame, widths: Widths): Entry {
  const { paint, now, columns } = frame;
  const runs = runsOf(task, board);
  const need = board.needs.get(task.id);
  const mark = markOf(task, runs, need !== undefined);
  const used = board.usage.get(task.id);
  const cells: Cells = {
    mark,
    id: task.id,
    name: `${task.project}#${task.number}`,
    status: task.status,
    summary: oneLine(task.summary) || "(no summary)",
    agent: agentOf(runs, now),
    age: writeAge(task.createdAt, now),
    tokens: used === undefined ? "–" : writeTokens(used.inputTokens + used.outputTokens),
    cost: used === undefined ? "–" : used.unknown > 0 ? writeCosts(used).replace(" ", "") : writeCost(used.cost),
  };
  const colours: Partial<Record<keyof Widths, (text: string) => string>> = {
    mark: (text) => paint[markColours[mark]](text),
    status: paint.cyan,
    id: paint.bold,
  };
  const isOver = task.outcome !== null;
  const row = writeCells(cells, widths, (text, name) => (isOver ? paint.dim(text) : (colours[name]?.(text) ?? text)));
  const indent = " ".repeat(widths.mark + 2);
  const room = columns - indent.length;
  if (room < 1) return { row, note: "", isNeeded: false };
  if (need !== undefined) return { row, note: indent + writeNeed(need, room, paint), isNeeded: true };
  const said = isOver ? "" : saidBy(runs);
  return { row, note: said === "" ? "" : indent + paint.dim(clip(said, room)), isNeeded: false };
}

/** The command stays whole as long as it can: it is what the person copies. */
function writeNeed(need: Need, room: number, paint: Paint): string {
  const [reason, command] = [oneLine(need.reason), oneLine(need.command)];
  if (command === "") return paint.yellow(clip(reason, room));
  const left = room - displayWidth(command) - 3;
  if (reason === "" || left < leastReason) return paint.cyan(clip(command, room));
  return `${paint.yellow(clip(reason, left))} → ${paint.cyan(command)}`;
}

const leastReason = 8;

export function writeCells(cells: Cells, widths: Widths, paint: (text: string, name: keyof Widths) => string): string {
  return (Object.keys(widths) as (keyof Widths)[])
    .filter((name) => widths[name] > 0)
    .map((name) => {
      const text = visible(cells[name]);
      const cell = toTheRight.has(name) ? clip(text, widths[name]).padStart(widths[name]) : fill(text, widths[name]);
      return paint(cell, name);
    })
    .join("  ");
}

const toTheRight = new Set<keyof Widths>(["age", "tokens", "cost"]);

const markColours = {
  "!": "yellow",
  "✗": "red",
  "●": "green",
  "○": "cyan",
  "◌": "dim",
  "?": "dim",
  "✓": "green",
  " ": "dim",
} as const;

function markOf(task: TaskView, runs: readonly RunView[], isNeeded: boolean): keyof typeof markColours {
  if (task.outcome !== null) return task.outcome === "done" ? "✓" : "✗";
  if (isNeeded) return task.session === "dead" ? "✗" : "!";
  const activities = new Set(runs.map(({ activity }) => activity));
  if (activities.has("busy")) return "●";
  if (activities.has("starting") || activities.has("waiting")) return "◌";
  if (activities.has("idle")) return "○";
  return activities.has("unknown") ? "?" : " ";
}

function runsOf({ id }: TaskView, { runs }: Board): readonly RunView[] {
  return runs.filter(({ task }) => task === id);
}

/** `worker busy 12s`, or how many there are. */
function agentOf(runs: readonly RunView[], now: number): string {
  const [first] = runs;
  if (first === undefined) return "–";
  if (runs.length > 1) return `${runs.length} agents`;
  return `${first.role} ${first.activity} ${writeAge(first.since, now)}`;
}

/** What the first agent that has something to say says. */
function saidBy(runs: readonly RunView[]): string {
  const speaker =
    runs.find(({ activity, what }) => activity === "busy" && what !== "") ?? runs.find(({ what }) => what !== "");
  if (speaker === undefined) return "";
  return oneLine(runs.length > 1 ? `${speaker.key}: ${speaker.what}` : speaker.what);
}

function oneLine(text: string): string {
  return visible(text).replace(/\s+/g, " ").trim();
}
