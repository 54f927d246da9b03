import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { count, listed } from "../../count.ts";
import { exitCodes } from "../../exit-code.ts";
import { given } from "../../given.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { whoResolves } from "../../tell-merge.ts";
import { writeJson } from "../../write-json.ts";

export interface SyncFlags {
  readonly from?: string;
  readonly "no-give-back": boolean;
  readonly json: boolean;
}

export async function sync(this: Context, flags: SyncFlags, reference: string) {
  const call = createCall(this);
  const body = given({ from: flags.from, giveBack: !flags["no-give-back"] });
  const answer = await call(routes.syncTask, { ...(await nameTask(call, reference)), body });
  const { commits, task, files, givenBack, from } = answer;
  if (givenBack !== null) this.process.exitCode = exitCodes.failed;
  if (flags.json) return this.print(writeJson(answer));
  if (givenBack !== null) {
    this.say(`${this.talkPaint.red("Not brought in.")} ${from} conflicts with ${task.branch} in ${listed(files)}.`);
    return this.say(`${shownTask(task)} is in ${givenBack.to}. ${whoResolves(givenBack)}`);
  }
  if (commits === 0) return this.say(`${shownTask(task)} has everything of ${from} already.`);
  this.print(`Brought ${count(commits, "commit")} of ${from} into ${task.branch}`);
}
