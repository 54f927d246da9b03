import { routes } from "../../../api/routes.ts";
import type { ActionView } from "../../../api/task-wires.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { writeTable } from "../../table.ts";
import { cut, wrapMessage } from "../../wrap.ts";
import { writeJson } from "../../write-json.ts";

export async function actions(this: Context, { all, json }: { all: boolean; json: boolean }, reference: string) {
  const call = createCall(this);
  const answer = await call(routes.listActions, await nameTask(call, reference));
  if (json) return this.print(writeJson(answer));
  const allowed = answer.actions.filter((each) => each.allowed);
  const others = answer.actions.filter((each) => !each.allowed);
  const { task } = answer;
  const { bold, cyan } = this.paint;
  const summary = task.summary.replace(/\s+/g, " ");
  const room = this.columns - shownTask(task).length - task.status.length - 3;
  this.print(`${bold(shownTask(task))} ${cyan(task.status)}${summary === "" ? "" : `  ${cut(summary, room)}`}\n`);
  this.print(writeAllowed(allowed, this));
  if (all) return this.print(`\n${bold("Not now")}\n${others.map((each) => writeRefused(each, this)).join("\n")}`);
  if (others.length > 0)
    this.say(`\nTo see also what is not allowed now, and why: signalbox task actions ${task.id} --all`);
}

function writeAllowed(allowed: readonly ActionView[], { paint, tableWidth }: Context): string {
  const titles = [{ title: "ACTION" }, { title: "COMMAND", paint: paint.cyan, isText: true }] as const;
  return writeTable(
    titles,
    allowed.map(({ label, to, command }) => [to === "" || label.endsWith(to) ? label : `${label} → ${to}`, command]),
    tableWidth,
  );
}

function writeRefused({ label, why }: ActionView, { columns }: Context): string {
  return `  ${label}\n    ${wrapMessage(why, columns - 4, "    ")}`;
}
