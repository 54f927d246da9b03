import type { RunView, UsageRow } from "../../api/agents.ts";
import type { TaskView } from "../../api/tasks.ts";
import { oneLine } from "../../text.ts";
import { type Paint, visible } from "../fast/tell.ts";
import { type Branching, inTree, withCounts } from "../task-table.ts";
import { clip, count, displayWidth, fill, joinFitting, listed, writeAge, writeCosts, writeTokens } from "../text.ts";
import type { Board, Need } from "./live.ts";

/** An empty screen: why it is empty, the command that changes it, and what happens then. */
export function emptyLines(
  { columns, paint }: Pick<Frame, "columns" | "paint">,
  { why, command, then }: { readonly why: string; readonly command: string; readonly then: string },
): readonly string[] {
  return [clip(why, columns), "", paint.cyan(clip(`  ${command}`, columns)), "", clip(then, columns)];
}

export interface Frame {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  readonly now: number;
  /** The project whose tasks are shown; empty for all projects. */
  readonly title: string;
  /** Why the view is outdated; empty if it is current. */
  readonly trouble: string;
}

/** A task on the screen. */
interface Entry {
  readonly row: string;
  /** What the task needs, or what its agent says; empty if there is nothing. */
  readonly note: string;
  readonly isNeeded: boolean;
}

type Cells = Readonly<Record<keyof Widths, string>>;
/** 0 if there is no room for the column. */
interface Widths {
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

const minSummary = 18;

/** On a narrow terminal columns are dropped one after the other, the summary last. */
function widthsOf(board: Board, tree: readonly Branching[], frame: Frame): Widths {
  const { tasks } = board;
  const longest = (texts: readonly string[], least: number, most: number) =>
    Math.min(most, Math.max(least, ...texts.map(displayWidth)));
  const used = tasks.flatMap(({ id }) => board.usage.get(id) ?? []);
  const hasUsage = used.length > 0;
  const isMixed = new Set(tasks.map(({ project }) => project)).size > 1;
  const wanted = {
    mark: 1,
    id: longest(
      tree.map(({ task, depth }) => (depth === 0 ? task.id : `└ ${task.id}`)),
      2,
      10,
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
    // Figures are never cut: a column without room for all of its own is left out.
    cost: hasUsage ? Math.max(7, ...used.map((row) => displayWidth(costOf(row)))) : 0,
    tokens: hasUsage ? Math.max(6, ...used.map((row) => displayWidth(tokensOf(row)))) : 0,
    name: isMixed
      ? longest(
          tasks.map(({ project, number }) => `${project}#${number}`),
          4,
          16,
        )
      : 0,
  };
  const widths = { mark: 0, id: 0, name: 0, status: 0, summary: 0, agent: 0, age: 0, tokens: 0, cost: 0 };
  let free = frame.columns - minSummary;
  for (const [name, width] of Object.entries(wanted) as [keyof typeof wanted, number][]) {
    if (width === 0 || free < width + 2) continue;
    widths[name] = width;
    free -= width + 2;
  }
  return { ...widths, summary: Math.max(0, minSummary + free) };
}

function entryOf({ task, depth }: Branching, board: Board, frame: Frame, widths: Widths): Entry {
  const { paint, now, columns } = frame;
  const runs = runsOf(task, board);
  const need = board.needs.get(task.id);
  const mark = markOf(task, runs, need !== undefined);
  const used = board.usage.get(task.id);
  const cells: Cells = {
    mark,
    id: depth === 0 ? task.id : `└ ${task.id}`,
    name: `${task.project}#${task.number}`,
    status: task.status,
    summary: withCounts({ ...task, summary: oneLine(task.summary) || "(no summary)" }, widths.summary),
    agent: agentOf(runs, now),
    age: writeAge(task.createdAt, now),
    tokens: used === undefined ? "–" : tokensOf(used),
    cost: used === undefined ? "–" : costOf(used),
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

function tokensOf({ inputTokens, outputTokens }: UsageRow): string {
  return writeTokens(inputTokens + outputTokens);
}

function costOf(used: UsageRow): string {
  return writeCosts(used).replaceAll(" ", "");
}

/** The command is cut last, because the person copies it. */
function writeNeed(need: Need, room: number, paint: Paint): string {
  const [reason, command] = [oneLine(need.reason), oneLine(need.command)];
  if (command === "") return paint.yellow(clip(reason, room));
  const left = room - displayWidth(command) - 3;
  if (reason === "" || left < minReason) return paint.cyan(clip(command, room));
  return `${paint.yellow(clip(reason, left))} → ${paint.cyan(command)}`;
}

const minReason = 8;

function writeCells(cells: Cells, widths: Widths, paint: (text: string, name: keyof Widths) => string): string {
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
  if (isNeeded) return "!";
  if (task.session === "dead") return "✗";
  const activities = new Set(runs.map(({ activity }) => activity));
  if (activities.has("busy")) return "●";
  if (activities.has("starting") || activities.has("waiting")) return "◌";
  if (activities.has("idle")) return "○";
  return activities.has("unknown") ? "?" : " ";
}

function runsOf({ id }: TaskView, { runs }: Board): readonly RunView[] {
  return runs.filter(({ task }) => task === id);
}

/** `worker busy 12s`, or the number of agents. */
function agentOf(runs: readonly RunView[], now: number): string {
  const [first] = runs;
  if (first === undefined) return "–";
  if (runs.length > 1) return `${runs.length} agents`;
  return `${first.role} ${first.activity} ${writeAge(first.since, now)}`;
}

/** The message of the first agent that has one. */
function saidBy(runs: readonly RunView[]): string {
  const speaker =
    runs.find(({ activity, what }) => activity === "busy" && what !== "") ?? runs.find(({ what }) => what !== "");
  if (speaker === undefined) return "";
  return oneLine(runs.length > 1 ? `${speaker.key}: ${speaker.what}` : speaker.what);
}

/** One screen of tasks and their agents: never more lines than rows, never wider than the terminal. */
export function watchLines(board: Board, frame: Frame): readonly string[] {
  const { columns, rows, paint } = frame;
  const head = [paint.bold(summary(board, frame)), ...troubles(board, frame)];
  const foot = paint.dim(footer(board, columns));
  const room = Math.max(1, rows - head.length - 3);
  const body = board.tasks.length === 0 ? emptyLines(frame, noTask) : table(board, frame, room);
  const lines = [...head, "", ...body].slice(0, Math.max(1, rows - 1));
  const blank = Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => "");
  return rows < 3 ? lines.slice(0, rows) : [...lines, ...blank, foot];
}

/** Only agents in terminals can be talked to. */
function hintsFor({ runs }: Board): readonly string[] {
  const isElsewhere = runs.length > 0 && runs.every(({ mode }) => mode !== "session");
  const agent = isElsewhere ? "signalbox task logs ID: read its agent" : "signalbox task attach ID: talk to its agent";
  return ["q leave", "signalbox task actions ID: what you can do", agent];
}

/** As many hints as fit. */
function footer(board: Board, columns: number): string {
  const hints = hintsFor(board);
  const fitting = hints.map((_, i) => hints.slice(0, i + 1).join("   ")).filter((text) => text.length <= columns);
  return fitting.at(-1) ?? "";
}

/** `coffee  3 open · 1 needs you · 2 agents at work · 34k tokens · $1.20` */
function summary({ tasks, runs, needs, usage }: Board, { title, columns }: Frame): string {
  const open = tasks.filter(({ outcome }) => outcome === null);
  const rows = tasks.flatMap(({ id }) => usage.get(id) ?? []);
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + of(row), 0);
  const tokens = sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens);
  const cost = { cost: sum((row) => row.cost), runs: sum((row) => row.runs), unknown: sum((row) => row.unknown) };
  const parts = [
    `${title || "All projects"}  ${open.length} open`,
    ...(needs.size === 0 ? [] : [`${needs.size} need${needs.size === 1 ? "s" : ""} you`]),
    ...agentCounts(runs),
    ...(tokens === 0 ? [] : [`${writeTokens(tokens)} tokens`]),
    ...(cost.runs === 0 ? [] : [cost.unknown >= cost.runs ? "cost unknown" : writeCosts(cost)]),
  ];
  return joinFitting(parts, columns);
}

/** Counted as in `agent ps`: idle agents are not at work. */
function agentCounts(runs: Board["runs"]): readonly string[] {
  const idle = runs.filter(({ activity }) => activity === "idle").length;
  const atWork = runs.filter(({ activity }) => activity !== "waiting").length - idle;
  return [`${count(atWork, "agent")} at work`, ...(idle === 0 ? [] : [`${idle} idle`])];
}

function troubles({ paused }: Board, { trouble, paint, columns }: Frame): readonly string[] {
  if (trouble !== "") return [paint.red(clip(trouble, columns))];
  if (paused.all) return [paint.yellow(clip("Everything is paused: signalbox resume --all", columns))];
  if (paused.projects.length === 0) return [];
  const [first] = paused.projects;
  return [paint.yellow(clip(`Paused: ${listed(paused.projects)} (signalbox resume --project ${first})`, columns))];
}

const noTask = {
  why: "No task is open. Create one in another terminal:",
  command: 'signalbox task create "What is to be done"',
  then: "It appears here immediately.",
};

function table(board: Board, frame: Frame, room: number): readonly string[] {
  const { paint, columns } = frame;
  const tree = ordered(board);
  const widths = widthsOf(board, tree, frame);
  const entries = tree.map((each) => entryOf(each, board, frame, widths));
  const titles = { mark: " ", id: "ID", name: "TASK", status: "STATUS", summary: "SUMMARY", agent: "AGENT" };
  const title = writeCells({ ...titles, age: "AGE", tokens: "TOKENS", cost: "COST" }, widths, (text) => text);
  const isTight = entries.length > room;
  const shown = isTight ? entries.slice(0, Math.max(0, room - 1)) : entries;
  // Without room for all notes, needs come before messages.
  let free = room - shown.length - (isTight ? 1 : 0);
  const notes = new Set<Entry>();
  for (const entry of [...shown.filter(({ isNeeded }) => isNeeded), ...shown.filter(({ isNeeded }) => !isNeeded)]) {
    if (entry.note === "" || free <= 0) continue;
    notes.add(entry);
    free--;
  }
  const more = `… ${entries.length - shown.length} more: signalbox task list`;
  return [
    paint.dim(clip(title, columns)),
    ...shown.flatMap((entry) => (notes.has(entry) ? [entry.row, entry.note] : [entry.row])),
    ...(isTight ? [paint.dim(clip(more, columns))] : []),
  ];
}

/**
 * Tasks that need a person come first, then those with working agents, then the rest; ended tasks come last. The parts of a
 * plan are below their parent, which goes where the most urgent of them would be; parts that are done are only counted.
 */
function ordered({ tasks, runs, needs }: Board): readonly Branching[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const shown = tasks.filter(({ parent, part, outcome }) => part === null || outcome !== "done" || !byId.has(parent));
  const rank = ({ id, outcome }: TaskView) => {
    if (outcome !== null) return 3;
    if (needs.has(id)) return 0;
    return runs.some(({ task }) => task === id) ? 1 : 2;
  };
  const ranks = new Map(shown.map((task) => [task.id, rank(task)]));
  for (const task of shown) {
    const own = ranks.get(task.id) ?? 3;
    // A parent that has ended has no open parts.
    const parent = byId.get(task.parent);
    if (parent?.outcome === null) ranks.set(parent.id, Math.min(own, ranks.get(parent.id) ?? 3));
  }
  const rankOf = ({ id }: TaskView) => ranks.get(id) ?? 3;
  const sorted = shown.toSorted((a, b) => rankOf(a) - rankOf(b) || b.createdAt.localeCompare(a.createdAt));
  return inTree(sorted, (a, b) => rankOf(a) - rankOf(b) || a.number - b.number);
}
