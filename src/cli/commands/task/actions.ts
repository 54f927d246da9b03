import { routes } from "../../../api/routes.ts";
import type { ActionView } from "../../../api/task-wires.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { writeTable } from "../../table.ts";
import { wrap } from "../../wrap.ts";
import { writeJson } from "../../write-json.ts";

export async function actions(this: Context, { all, json }: { all: boolean; json: boolean }, reference: string) {
  const call = createCall(this);
  const answer = await call(routes.listActions, await nameTask(call, reference));
  if (json) return this.print(writeJson(answer));
  const allowed = answer.actions.filter((each) => each.allowed);
  const others = answer.actions.filter((each) => !each.allowed);
  const { task } = answer;
  const { bold, cyan } = this.paint;
  this.print(`${bold(shownTask(task))} ${cyan(task.status)}${task.summary === "" ? "" : `  ${task.summary}`}\n`);
  this.print(writeAllowed(allowed, this));
  if (all) return this.print(`\n${bold("Not now")}\n${others.map((each) => writeRefused(each, this)).join("\n")}`);
  if (others.length > 0)
    this.say(`\nTo see also what is not allowed now, and why: signalbox task actions ${task.id} --all`);
}

function writeAllowed(allowed: readonly ActionView[], { paint, columns }: Context): string {
  const titles = [{ title: "ACTION" }, { title: "COMMAND", paint: paint.cyan }] as const;
  return writeTable(
    titles,
    allowed.map(({ label, to, command }) => [to === "" || label.endsWith(to) ? label : `${label} → ${to}`, command]),
    columns,
  );
}

function writeRefused({ label, why }: ActionView, { columns }: Context): string {
  return `  ${label}\n    ${wrap(why, columns - 4, "    ")}`;
}
