import { shownStatus } from "../api/shown-status.ts";
import type { TaskView } from "../api/tasks.ts";
import type { Context } from "./context.ts";
import { shownTask } from "./find.ts";
import { partMarks, writePartCounts } from "./parts.ts";
import { writeTable } from "./tables.ts";
import { clip, displayWidth, writeAge } from "./text.ts";

const marks = {
  "!": "it needs a person; signalbox task explain ID says what to do",
  "✗": "its session is dead",
  "‖": "it is paused",
  "◌": "its agent waits for a seat; signalbox task explain ID says why",
  "●": "its session is alive",
  "?": "it is unknown whether its session is alive",
} as const;

type Mark = keyof typeof marks | "";

/** A task in a list, below its parent if that is listed too. */
export interface Branching {
  readonly task: TaskView;
  /** 0 for a task whose parent is not listed. */
  readonly depth: number;
  /** How many parts of the task's plan wait to be started, and are left out. */
  readonly hidden: number;
}

/** With more parts than this waiting to be started, the list only counts them. */
const maxWaiting = 3;

/** The tasks in their order, each followed by its children, the oldest first. Many parts that wait are left out. */
export function inTree(
  tasks: readonly TaskView[],
  order = (a: TaskView, b: TaskView) => a.number - b.number,
  hides = true,
): readonly Branching[] {
  const ids = new Set(tasks.map(({ id }) => id));
  const children = Map.groupBy(tasks, ({ parent }) => (ids.has(parent) ? parent : ""));
  const below = (task: TaskView, depth: number): readonly Branching[] => {
    const own = (children.get(task.id) ?? []).toSorted(order);
    const waiting = own.filter(isWaiting);
    const hidden = hides && waiting.length > maxWaiting ? new Set(waiting) : new Set();
    const shown = own.filter((child) => !hidden.has(child));
    return [{ task, depth, hidden: hidden.size }, ...shown.flatMap((child) => below(child, depth + 1))];
  };
  return (children.get("") ?? []).flatMap((task) => below(task, 0));
}

/** Whether a part has not been started, and needs nobody. */
function isWaiting({ part, outcome, needsPerson }: TaskView): boolean {
  return part !== null && part.slot === null && outcome === null && !needsPerson;
}

/** A summary, with how far the task's parts are behind it; the summary is cut first. */
export function withCounts({ summary, children }: Pick<TaskView, "summary" | "children">, room: number): string {
  const text = summary.replace(/\s+/g, " ");
  const counts = children === null || children.parts.length === 0 ? "" : writePartCounts(children);
  if (counts === "") return clip(text, room);
  const left = room - displayWidth(counts) - 2;
  return left < minBesideCounts ? clip(counts, room) : `${clip(text, left)}  ${counts}`;
}

const minBesideCounts = 4;

/** Tasks as a table that fits into the columns: long summaries are cut, and parts are below their parent. */
export function writeTasks(
  tasks: readonly TaskView[],
  { paint, columns }: Pick<Context, "paint" | "columns">,
  now: number,
): string {
  const colours = {
    "✗": paint.red,
    "!": paint.yellow,
    "‖": paint.yellow,
    "◌": paint.dim,
    "●": paint.green,
    "?": paint.dim,
    "": String,
  };
  const hasMarks = tasks.some((task) => markOf(task) !== "");
  const isFile = columns === Number.POSITIVE_INFINITY;
  const tree = inTree(tasks, undefined, !isFile);
  const cells = tree.map(({ task, depth }) => ({
    mark: markOf(task),
    id: task.id,
    // A program that reads the list needs the whole name.
    name: depth === 0 || isFile ? shownTask(task) : `${"  ".repeat(depth - 1)}└ #${task.number}`,
    status: shownStatus(task),
    task,
    branch: isFile ? task.branch : clip(task.branch, maxBranch),
    age: writeAge(task.createdAt, now),
  }));
  const width = (of: (row: (typeof cells)[number]) => string, title: string) =>
    Math.max(title.length, ...cells.map((row) => displayWidth(of(row)))) + 2;
  const branches = width(({ branch }) => branch, "BRANCH");
  const others =
    width(({ id }) => id, "ID") +
    width(({ name }) => name, "TASK") +
    width(({ status }) => status, "STATUS") +
    width(({ age }) => age, "AGE") +
    (hasMarks ? 3 : 0);
  // The branch can be left out, because signalbox task show has it.
  const hasBranch = columns - others - branches >= minBesideBranch;
  const room = columns - others - (hasBranch ? branches : 0);
  const table = [
    ...(hasMarks ? [{ title: " ", paint: (cell: string) => colours[cell as Mark](cell) }] : []),
    { title: "ID" },
    { title: "TASK", paint: paint.bold },
    { title: "STATUS", paint: paint.cyan },
    ...(hasBranch ? [{ title: "SUMMARY" }, { title: "BRANCH" }] : []),
    { title: "AGE", align: "right" as const },
    ...(hasBranch ? [] : [{ title: "SUMMARY", isText: true }]),
  ];
  const rows = cells.map(({ mark, id, name, status, task, branch, age }) => [
    ...(hasMarks ? [mark] : []),
    id,
    name,
    status,
    ...(hasBranch ? [withCounts(task, room), branch] : []),
    age,
    // Below the other columns there is more room.
    ...(hasBranch ? [] : [withCounts(task, room >= minSummary ? room : 2 * (columns - 4))]),
  ]);
  return writeTable(table, rows, columns);
}

/** The meaning of the marks in a table; empty if there are none. */
export function marksIn(tasks: readonly TaskView[]): string {
  const used = new Set<string>(tasks.map(markOf));
  const meanings = { ...marks, "‖": `it is paused; to continue: ${resuming(tasks)}` };
  const lines = Object.entries(meanings).flatMap(([mark, meaning]) => (used.has(mark) ? [`${mark} ${meaning}`] : []));
  const hasParts = tasks.some(({ children }) => children !== null && children.parts.length > 0);
  return [...lines, ...(hasParts ? [`Behind a summary, its parts: ${partMarks}`] : [])].join("\n");
}

/** Which parts a table leaves out, and the command that lists them; empty if it shows all. */
export function hiddenIn(tasks: readonly TaskView[]): readonly string[] {
  return inTree(tasks).flatMap(({ task, hidden }) =>
    hidden === 0
      ? []
      : [`${hidden} parts of ${shownTask(task)} wait to be started: signalbox task list --parent ${task.id}`],
  );
}

const maxBranch = 28;
const minSummary = 16;
const minBesideBranch = 24;

/** That a person is needed takes precedence: `explain` says that the session is dead, and what to do. */
function markOf({ session, needsPerson, waiting, paused }: TaskView): Mark {
  if (needsPerson) return "!";
  if (session === "dead") return "✗";
  // Working agents continue in a pause, unless it ended them.
  if (paused !== "" && (waiting !== "" || session !== "alive")) return "‖";
  if (waiting !== "") return "◌";
  return session === "alive" ? "●" : session === "unknown" ? "?" : "";
}

/** The commands that end the pauses of these tasks: of everything, or of their projects. */
function resuming(tasks: readonly TaskView[]): string {
  const commands = tasks.flatMap(({ paused }) => /signalbox resume .+$/.exec(paused) ?? []);
  return [...new Set(commands)].join(" or ");
}
