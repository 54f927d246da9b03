import type { ChangeView } from "../api/task-wires.ts";
import type { Context } from "./context.ts";

/** Tells what a request did: where the task went, or why nothing happened. */
export function tellChange(
  context: Pick<Context, "paint" | "talkPaint" | "print" | "say">,
  { kind, from, task, why }: ChangeView,
): void {
  const { paint } = context;
  if (kind === "moved") context.print(`${from} → ${paint.cyan(task.status)}`);
  else if (kind === "stayed") context.print(paint.cyan(task.status));
  else context.say(`Nothing has changed. ${why}`.trimEnd());
  if (task.held !== null) {
    context.say(`${context.talkPaint.yellow("Held for a person:")} ${task.held.reason}`);
    context.say(`To see what can be done: signalbox task explain ${task.id}`);
  }
}
