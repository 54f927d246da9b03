import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { given } from "../../given.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { writeJson } from "../../write-json.ts";

export async function sync(this: Context, { from, json }: { from?: string; json: boolean }, reference: string) {
  const call = createCall(this);
  const answer = await call(routes.syncTask, { ...(await nameTask(call, reference)), body: given({ from }) });
  if (json) return this.print(writeJson(answer));
  const { commits, task } = answer;
  if (commits === 0) return this.say(`${shownTask(task)} has everything of ${answer.from} already.`);
  this.print(`Brought ${count(commits, "commit")} of ${answer.from} into ${task.branch}`);
}
