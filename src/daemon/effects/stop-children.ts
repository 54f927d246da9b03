import { Fault } from "../../fault.ts";
import type { Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";

const shown = 20;

/** The children of a task must be over before it goes on. Where there are none, as before they were started, nothing is to do. */
export function stopChildren({ store }: { readonly store: Store }): Perform {
  return async (_, { task }) => {
    const open = await store.listTasks({ parent: task.id, isOpen: true }, { limit: shown });
    if (open.length === 0) return;
    const commands = open.map((each) => `signalbox task cancel ${each.task.id}`);
    throw new Fault("children.open", `The task has children that are not over: ${open.length}.`, {
      hint: [`Cancel them:`, ...commands, `Then: signalbox task retry ${task.id}`].join("\n"),
    });
  };
}
