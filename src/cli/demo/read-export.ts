import { apply, type TaskEvent } from "../../engine/decision.ts";
import type { Task } from "../../engine/task.ts";
import { parseTaskDocument } from "../../engine/task-document.ts";

/** What the demo tells about, from a task's exported history. Times are milliseconds. */
export interface Exported {
  readonly task: Task;
  /** As it was handed in, the oldest first. */
  readonly artifacts: readonly { readonly section: string; readonly text: string; readonly run: string }[];
  readonly sections: Readonly<Record<string, string>>;
  readonly events: readonly { readonly event: TaskEvent; readonly at: number }[];
  /** Whether history alone gives the same task. */
  readonly replays: boolean;
}

/** Reads what `task export` prints: one JSON object on each line. */
export function readExport(text: string): Exported {
  const lines = text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { readonly kind: string });
  const of = <T>(kind: string) => lines.filter((line) => line.kind === kind) as unknown as readonly T[];
  const [stored] = of<{ task: Task }>("task");
  if (stored === undefined) throw new Error("An exported history has no task.");
  const [document] = of<{ text: string }>("document");
  const events = of<Exported["events"][number]>("event");
  const replayed = events.map(({ event }) => withTakenAway(event)).reduce(apply, {} as Task);
  return {
    task: stored.task,
    artifacts: of<Exported["artifacts"][number]>("artifact"),
    sections: sectionsIn(document?.text ?? ""),
    events,
    replays: ordered(replayed) === ordered(stored.task),
  };
}

function sectionsIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...parseTaskDocument(text).byHeading].map(([heading, { body }]) => [heading, body]));
}

/** JSON has no `undefined`; in an export null says that something was taken away. */
function withTakenAway(event: TaskEvent): TaskEvent {
  const set = Object.fromEntries(Object.entries(event.set).map(([key, value]) => [key, value ?? undefined]));
  return { ...event, set };
}

/** What is missing and what was taken away are the same. */
function ordered(task: Task): string {
  const plain = JSON.parse(JSON.stringify(task)) as Task;
  return JSON.stringify(Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1)));
}
