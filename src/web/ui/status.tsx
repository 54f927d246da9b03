import { shownStatus } from "../../api/shown-status.ts";
import type { TaskView } from "../../api/tasks.ts";
import { visibleLine } from "../text/visible.ts";

type Shown = Pick<TaskView, "status" | "needsPerson" | "outcome" | "undone" | "held" | "paused" | "waiting">;

/** The signal of a task: amber needs a person, green moves, grey waits or is over, red failed. */
export function signalOf(task: Omit<Shown, "status">): { readonly tone: keyof typeof tones; readonly word: string } {
  if (task.needsPerson) return { tone: "warn", word: "needs you" };
  if (task.held !== null) return { tone: "bad", word: "held" };
  if (task.undone) return { tone: "over", word: "undone" };
  if (task.outcome === "done") return { tone: "good", word: "done" };
  if (task.outcome === "failed") return { tone: "bad", word: "failed" };
  if (task.outcome !== null) return { tone: "over", word: "cancelled" };
  if (task.paused !== "") return { tone: "over", word: "paused" };
  return task.waiting === "" ? { tone: "moves", word: "running" } : { tone: "over", word: "in the queue" };
}

const tones = {
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  good: "bg-good-soft text-good",
  moves: "bg-note-soft text-note",
  over: "bg-sunken text-muted",
} as const;

/** A task's state, coloured by what it means for the person. */
export function Status({ task }: { task: Shown }) {
  const { tone, word } = signalOf(task);
  return (
    <span
      title={word}
      className={`inline-block max-w-48 truncate rounded px-1.5 text-xs leading-5 font-medium ${tones[tone]}`}
    >
      {visibleLine(shownStatus(task))}
    </span>
  );
}

/** A small number, or nothing for zero. */
export function Count({ of, isUrgent = false }: { of: number; isUrgent?: boolean }) {
  if (of === 0) return null;
  const tone = isUrgent ? "bg-warn-soft text-warn" : "bg-sunken text-muted";
  return (
    <span className={`rounded-full px-1.5 text-xs font-semibold tabular-nums ${tone}`}>{of > 999 ? "999+" : of}</span>
  );
}
