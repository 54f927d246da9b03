import { routes } from "../../../api/routes.ts";
import type { Context } from "../../context.ts";
import { count, listed } from "../../count.ts";
import { forEach } from "../../for-each.ts";
import { given } from "../../given.ts";
import { nameTask, shownTask } from "../../name-task.ts";
import { whoResolves } from "../../tell-merge.ts";

export interface SyncFlags {
  readonly from?: string;
  readonly "no-give-back": boolean;
  readonly json: boolean;
}

export function sync(this: Context, flags: SyncFlags, ...references: readonly string[]) {
  const body = given({ from: flags.from, giveBack: !flags["no-give-back"] });
  return forEach(this, references, flags.json, {
    act: async (_, call, reference) => call(routes.syncTask, { ...(await nameTask(call, reference)), body }),
    isFailed: ({ givenBack }) => givenBack !== null,
    tell: (own, { commits, task, files, givenBack, from }) => {
      if (givenBack !== null) {
        own.say(`${own.talkPaint.red("Not brought in.")} ${from} conflicts with ${task.branch} in ${listed(files)}.`);
        return own.say(`${shownTask(task)} is in ${givenBack.to}. ${whoResolves(givenBack)}`);
      }
      if (commits === 0) return own.say(`${shownTask(task)} has everything of ${from} already.`);
      own.print(`Brought ${count(commits, "commit")} of ${from} into ${task.branch}`);
    },
  });
}
