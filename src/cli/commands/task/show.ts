import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { describeTask } from "../../describe-task.ts";
import { nameTask } from "../../name-task.ts";
import { writeJson } from "../../write-json.ts";

export async function show(this: Context, { json }: { json: boolean }, reference: string) {
  const call = createCall(this);
  const { task, effects, pullRequest } = await call(routes.getTask, await nameTask(call, reference));
  const document = await call(routes.getDocument, { params: { task: task.id } });
  if (json) return this.print(writeJson({ task, effects, pullRequest, document }));
  this.print(describeTask(task, effects, pullRequest, document, this, Date.now()));
  // What a task that is over still has to tell, such as that its merge was taken back.
  const { blocked } = task.phase === "over" ? await call(routes.explainTask, { params: { task: task.id } }) : notOver;
  for (const { reason, fix } of blocked) this.print(`\n${this.paint.yellow(reason)}\n  ${fix}`);
  this.say(`
To see what can happen next: signalbox task explain ${task.id}
To see what has happened:    signalbox task history ${task.id}`);
}

const notOver = { blocked: [] };
