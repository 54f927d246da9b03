import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { writeJson } from "../../write-json.ts";

export async function retry(this: Context, { json }: { json: boolean }, reference: string) {
  const call = createCall(this);
  const answer = await call(routes.retryTask, { ...(await nameTask(call, reference)), body: {} });
  if (json) return this.print(writeJson(answer));
  const { retried, task } = answer;
  if (retried === 0) {
    this.say(`Nothing of ${shownTask(task)} has failed, so nothing is tried again.`);
    if (task.held !== null) this.say(`It is held. To let it try again: signalbox task continue ${task.id}`);
    return;
  }
  this.print(`${count(retried, "effect")} of ${shownTask(task)} ${retried === 1 ? "is" : "are"} tried again`);
  this.say(`To see how it goes: signalbox task show ${task.id}`);
}
