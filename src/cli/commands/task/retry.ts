import { routes } from "../../../api/routes.ts";
import type { Context } from "../../context.ts";
import { count } from "../../count.ts";
import { forEach } from "../../for-each.ts";
import { nameTask, shownTask } from "../../name-task.ts";

export function retry(this: Context, { json }: { json: boolean }, ...references: readonly string[]) {
  return forEach(this, references, json, {
    act: async (_, call, reference) => call(routes.retryTask, { ...(await nameTask(call, reference)), body: {} }),
    tell: (own, { retried, task }) => {
      if (retried > 0) {
        own.print(`${count(retried, "effect")} of ${shownTask(task)} ${retried === 1 ? "is" : "are"} tried again`);
        return own.say(`To see how it goes: signalbox task show ${task.id}`);
      }
      own.say(`Nothing of ${shownTask(task)} has failed, so nothing is tried again.`);
      if (task.held !== null) own.say(`It is held. To let it try again: signalbox task continue ${task.id}`);
    },
  });
}
