import type { TaskView } from "../api/task-wires.ts";
import { count, listed } from "./count.ts";
import { clip } from "./display-width.ts";
import type { Board } from "./watch-board.ts";
import { emptyLines } from "./watch-empty.ts";
import { type Entry, entryOf, type Frame, widthsOf, writeCells } from "./watch-rows.ts";
import { writeCosts, writeTokens } from "./write-usage.ts";

/** One screen of tasks and their agents: never more lines than there are rows, never wider than the terminal. */
export function watchLines(board: Board, frame: Frame): readonly string[] {
  const { columns, rows, paint } = frame;
  const head = [paint.bold(clip(summary(board, frame), columns)), ...troubles(board, frame)];
  const foot = paint.dim(footer(columns));
  const room = Math.max(1, rows - head.length - 3);
  const body = board.tasks.length === 0 ? emptyLines(frame, noTask) : table(board, frame, room);
  const lines = [...head, "", ...body].slice(0, Math.max(1, rows - 1));
  const blank = Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => "");
  return rows < 3 ? lines.slice(0, rows) : [...lines, ...blank, foot];
}

const hints = ["q leave", "signalbox task actions ID: what you can do", "signalbox task attach ID: talk to its agent"];

/** As many hints as there is room for. */
function footer(columns: number): string {
  const fitting = hints.map((_, i) => hints.slice(0, i + 1).join("   ")).filter((text) => text.length <= columns);
  return fitting.at(-1) ?? "";
}

/** `coffee  3 open · 1 needs you · 2 agents at work · 34k tokens · $1.20` */
function summary({ tasks, runs, needs, usage }: Board, { title }: Frame): string {
  const open = tasks.filter(({ outcome }) => outcome === null);
  const rows = tasks.flatMap(({ id }) => usage.get(id) ?? []);
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + of(row), 0);
  const tokens = sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens);
  const cost = { cost: sum((row) => row.cost), runs: sum((row) => row.runs), unknown: sum((row) => row.unknown) };
  const parts = [
    `${open.length} open`,
    ...(needs.size === 0 ? [] : [`${needs.size} need${needs.size === 1 ? "s" : ""} you`]),
    ...agentCounts(runs),
    ...(tokens === 0 ? [] : [`${writeTokens(tokens)} tokens`]),
    ...(cost.runs === 0 ? [] : [cost.unknown >= cost.runs ? "cost unknown" : writeCosts(cost)]),
  ];
  return `${title || "All projects"}  ${parts.join(" · ")}`;
}

/** As `agent ps` shows them: who is idle is not at work. */
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
  why: "No task is open. Give your agents something to do, in another terminal:",
  command: 'signalbox task create "What is to be done"',
  then: "It shows up here at once.",
};

function table(board: Board, frame: Frame, room: number): readonly string[] {
  const { paint, columns } = frame;
  const widths = widthsOf(board, frame);
  const entries = ordered(board).map((task) => entryOf(task, board, frame, widths));
  const titles = { mark: " ", id: "ID", name: "TASK", status: "STATUS", summary: "SUMMARY", agent: "AGENT" };
  const title = writeCells({ ...titles, age: "AGE", tokens: "TOKENS", cost: "COST" }, widths, (text) => text);
  const isTight = entries.length > room;
  const shown = isTight ? entries.slice(0, Math.max(0, room - 1)) : entries;
  // Where there is no room for everything, what is needed goes before what is told.
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

/** Those that need a person come first, then those with agents at work, then the rest; what is over comes last. */
function ordered({ tasks, runs, needs }: Board): readonly TaskView[] {
  const rank = ({ id, outcome }: TaskView) => {
    if (outcome !== null) return 3;
    if (needs.has(id)) return 0;
    return runs.some(({ task }) => task === id) ? 1 : 2;
  };
  return [...tasks].sort((a, b) => rank(a) - rank(b) || b.createdAt.localeCompare(a.createdAt));
}
