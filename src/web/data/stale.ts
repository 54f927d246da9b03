import type { EventView } from "../../api/tasks.ts";

/** The parts of a task that the page shows, each of which is fetched by itself. */
export type TaskPart =
  | "actions"
  | "explain"
  | "graph"
  | "document"
  | "diff"
  | "runs"
  | "findings"
  | "plan"
  | "messages";

/** What an event makes stale: a task, some of its parts, and lists that are no tasks. */
export interface Marks {
  /** Empty for an event of the home. */
  readonly task: string;
  readonly parts: readonly TaskPart[];
  /** The set of tasks has changed, not only one of them. */
  readonly isListChanged: boolean;
  readonly others: readonly ("projects" | "status" | "questions" | "config" | "runs" | "agents" | "merges")[];
}

/** Parts by the beginning of an event's type. The first that fits counts. */
const partsByType: readonly (readonly [begin: string, parts: readonly TaskPart[]])[] = [
  ["document.", ["document"]],
  ["finding.", ["findings", "document"]],
  ["plan.", ["plan", "document"]],
  ["message.", ["messages"]],
  ["agent.ended", ["runs", "diff", "document", "findings", "plan"]],
  ["agent.", ["runs"]],
  ["panel.", ["runs"]],
  ["merge.", ["diff"]],
  ["tests.", ["diff"]],
  ["protected.", ["diff"]],
  ["workspace.", ["diff"]],
  ["task.", ["document", "diff", "findings", "plan", "runs"]],
  ["work.", ["document", "runs"]],
];

/** Events that say nothing that the page shows elsewhere than in the history. */
const historyOnly: readonly string[] = ["request.rejected", "task.commented"];

export function marksOf({ type, task }: Pick<EventView, "type" | "task">): Marks {
  if (task === "") return { task, parts: [], isListChanged: false, others: ["projects", "status", "config"] };
  if (historyOnly.includes(type)) return { task: "", parts: [], isListChanged: false, others: [] };
  const [, own = []] = partsByType.find(([begin]) => type.startsWith(begin)) ?? [];
  return {
    task,
    // What a person can do, and what comes next, depends on everything.
    parts: ["actions", "explain", "graph", ...own],
    isListChanged: type === "task.created",
    others: [
      ...(asks.some((begin) => type.startsWith(begin)) ? (["questions"] as const) : []),
      ...(type.startsWith("agent.") ? (["runs", "agents"] as const) : []),
      ...(merging.some((begin) => type.startsWith(begin)) ? (["merges"] as const) : []),
    ],
  };
}

/** A task leaves the merge queue when it moves, whatever has moved it. */
const merging: readonly string[] = ["merge.", "pr.", "task.moved"];
const asks: readonly string[] = ["task.", "dialogue.", "agent.", "document."];

/** Gathers marks, so that many events lead to one request. */
export interface Pile {
  readonly tasks: ReadonlyMap<string, ReadonlySet<TaskPart>>;
  readonly isListChanged: boolean;
  readonly others: ReadonlySet<Marks["others"][number]>;
}

export const emptyPile: Pile = { tasks: new Map(), isListChanged: false, others: new Set() };

export function withMarks(pile: Pile, marks: Marks): Pile {
  const tasks = new Map(pile.tasks);
  if (marks.task !== "") tasks.set(marks.task, new Set([...(tasks.get(marks.task) ?? []), ...marks.parts]));
  return {
    tasks,
    isListChanged: pile.isListChanged || marks.isListChanged,
    others: new Set([...pile.others, ...marks.others]),
  };
}
