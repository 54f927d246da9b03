import type { TaskView } from "../api/task-wires.ts";
import type { Context } from "./context.ts";
import { shownTask } from "./name-task.ts";
import { visible } from "./visible.ts";
import { wrapMessage } from "./wrap.ts";
import { writeAge } from "./write-time.ts";

/** What each task needs a person for, since when, and the command. Commands are to be copied, so they stay whole. */
export function writeNeeds(
  tasks: readonly TaskView[],
  { paint, columns }: Pick<Context, "paint" | "columns">,
  now: number,
): string {
  return tasks.map((task) => entry(task)).join("\n\n");

  function entry(task: TaskView): string {
    const summary = task.summary.replace(/\s+/g, " ");
    const head = `${paint.bold(shownTask(task))}  ${paint.cyan(task.status)}${summary === "" ? "" : `  ${visible(summary)}`}`;
    const needs = task.needs.flatMap(({ brief, command, since }) => [
      `  ${wrapMessage(visible(`${brief} (${writeAge(since, now)})`), columns - 2, "  ")}`,
      ...(command === "" ? [] : [`    ${paint.cyan(command)}`]),
    ]);
    return [head, ...needs].join("\n");
  }
}
