import { routes } from "../../../api/routes.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { writeJson } from "../../write-json.ts";

export interface DeleteFlags {
  readonly yes: boolean;
  readonly json: boolean;
}

export async function deleteTask(this: Context, { yes, json }: DeleteFlags, reference: string) {
  const call = createCall(this);
  const { task } = await call(routes.getTask, await nameTask(call, reference));
  if (!(await confirm(this, `Delete ${shownTask(task)}${task.summary && ` "${task.summary}"`}?`, yes))) return;
  const answer = await call(routes.deleteTask, { params: { task: task.id } });
  if (json) return this.print(writeJson(answer));
  this.say(`${shownTask(task)} is deleted. Its history is kept in:`);
  this.print(answer.kept);
}
