import type { TaskView } from "../api/task-wires.ts";
import type { Context } from "./context.ts";
import { clip, displayWidth } from "./display-width.ts";
import { shownTask } from "./name-task.ts";
import { writeTable } from "./table.ts";
import { writeAge } from "./write-time.ts";

const marks = {
  "✗": "its session is dead",
  "!": "a person should look at it",
  "‖": "it is paused; signalbox resume lets it go on",
  "◌": "its agent waits for a seat; signalbox task explain ID says why",
  "●": "its session is alive",
  "?": "nobody can tell whether its session is alive",
} as const;

type Mark = keyof typeof marks | "";

/** Tasks as a table that is as wide as lines may be: what is too long gives way to the rest. */
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
  const cells = tasks.map((task) => ({
    mark: markOf(task),
    id: task.id,
    name: shownTask(task),
    status: task.status,
    summary: task.summary.replace(/\s+/g, " "),
    branch: columns === Number.POSITIVE_INFINITY ? task.branch : clip(task.branch, mostBranch),
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
  // A branch can be looked up, by signalbox task show.
  const hasBranch = columns - others - branches >= leastBesideBranch;
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
  const rows = cells.map(({ mark, id, name, status, summary, branch, age }) => [
    ...(hasMarks ? [mark] : []),
    id,
    name,
    status,
    ...(hasBranch ? [clip(summary, room), branch] : []),
    age,
    // Below the others there is more room.
    ...(hasBranch ? [] : [clip(summary, room >= leastSummary ? room : 2 * (columns - 4))]),
  ]);
  return writeTable(table, rows, columns);
}

/** What the marks in a table mean; empty where there are none. */
export function marksIn(tasks: readonly TaskView[]): string {
  const used = new Set<string>(tasks.map(markOf));
  return Object.entries(marks)
    .filter(([mark]) => used.has(mark))
    .map(([mark, meaning]) => `${mark} ${meaning}`)
    .join("\n");
}

const mostBranch = 28;
const leastSummary = 16;
const leastBesideBranch = 24;

/** A dead session explains why a person is needed, so it is shown first. */
function markOf({ session, needsPerson, waiting, paused }: TaskView): Mark {
  if (session === "dead") return "✗";
  if (needsPerson) return "!";
  // Agents that are at work go on in a pause, unless it ended them.
  if (paused !== "" && (waiting !== "" || session !== "alive")) return "‖";
  if (waiting !== "") return "◌";
  return session === "alive" ? "●" : session === "unknown" ? "?" : "";
}
