import { routes } from "../../../api/routes.ts";
import type { TaskView } from "../../../api/task-wires.ts";
import { confirm } from "../../confirm.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { forEach } from "../../for-each.ts";
import { nameTask, shownTask } from "../../name-task.ts";

export interface DeleteFlags {
  readonly yes: boolean;
  readonly json: boolean;
}

export async function deleteTask(this: Context, { yes, json }: DeleteFlags, ...references: readonly string[]) {
  const call = createCall(this);
  if (!yes) {
    const tasks: TaskView[] = [];
    for (const each of new Set(references)) tasks.push((await call(routes.getTask, await nameTask(call, each))).task);
    const names = tasks.map((task) => `${shownTask(task)}${task.summary && ` "${task.summary}"`}`);
    if (!(await confirm(this, `Delete ${names.join(", ")}?`, false))) return;
  }
  await forEach(this, references, json, {
    act: async (_, call, reference) => {
      const { task } = await call(routes.getTask, await nameTask(call, reference));
      const { kept, left } = await call(routes.deleteTask, { params: { task: task.id } });
      return { kept, left, task: shownTask(task) };
    },
    tell: (own, { kept, left, task }) => {
      for (const folder of left) own.say(`What is in its workspace could not be saved, so the folder stays: ${folder}`);
      own.say(`${task} is deleted. Its history is kept in:`);
      own.print(kept);
    },
  });
}
