import type { ExplanationView } from "../api/task-wires.ts";
import type { Context } from "./context.ts";
import { listed } from "./count.ts";
import { writeEffects } from "./describe-task.ts";
import { shownTask } from "./name-task.ts";
import { cut, wrapMessage } from "./wrap.ts";
import { writeTime } from "./write-time.ts";

/** Where a task is, what stands in its way, who can move it, and what comes by itself. */
export function describeExplanation(
  { task, where, blocked, moves, next, owed, warnings }: ExplanationView,
  { paint, columns }: Pick<Context, "paint" | "columns">,
): string {
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : ["", paint.bold(title), ...lines];
  const indented = (text: string, by = 2) => `${" ".repeat(by)}${wrapMessage(text, columns - by, " ".repeat(by))}`;
  const head = shownTask(task).length + task.status.length + 3;
  const open = moves.filter((move) => move.open);
  const closed = moves.filter((move) => !move.open);
  return [
    `${paint.bold(shownTask(task))} ${paint.cyan(task.status)}${task.summary === "" ? "" : `  ${cut(task.summary.replace(/\s+/g, " "), columns - head)}`}`,
    wrapMessage(where, columns),
    ...section(
      "What stands in the way",
      blocked.flatMap(({ reason, fix }) => [
        indented(reason),
        ...fix
          .split("\n")
          .flatMap((each) => (each === "" ? [] : [withCommand.test(each) ? `    ${each}` : indented(each, 4)])),
      ]),
    ),
    ...section(
      "What can be asked for now",
      open.flatMap(({ to, by, command }) => [
        `  → ${paint.cyan(to)} by ${whoOf(by)}`,
        ...(command === "" ? [] : [`    ${command}`]),
      ]),
    ),
    ...section(
      "What can be asked for later",
      closed.flatMap(({ to, by, missing }) => [
        `  → ${paint.cyan(to)} by ${whoOf(by)}`,
        ...missing.map((each) => indented(each, 4)),
      ]),
    ),
    ...section(
      "What happens by itself",
      next.map(({ what, at }) => indented(at === null ? what : `${what} (${writeTime(at)})`)),
    ),
    ...section(
      "What is to be expected",
      warnings.map((warning) => indented(warning)),
    ),
    ...section("Owed", writeEffects(owed, paint, columns)),
  ].join("\n");
}

/** Commands are to be copied, so they are not broken into lines. */
const withCommand = /(signalbox|git) \S/;

function whoOf(by: readonly string[]): string {
  return by.length === 0 ? "anybody" : listed(by, "or");
}
