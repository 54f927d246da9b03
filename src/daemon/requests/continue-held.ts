import type { Core } from "../core.ts";

/**
 * A person has just done what these tasks are held for: the reason of each names the command. The others of the project
 * are woken, because what they wanted to go on with may have been refused as well.
 */
export async function continueHeld(core: Core, project: string, command: string): Promise<void> {
  for (let before: number | undefined; ; ) {
    const page = { limit, ...(before === undefined ? {} : { before }) };
    const tasks = await core.store.listTasks({ project, isOpen: true }, page);
    for (const { task } of tasks) {
      if (task.held?.reason.includes(command)) {
        await core
          .submit(task.id, { kind: "continue", actor: { role: "human" } })
          .catch((error) => core.log.warn("A held task could not go on", { task: task.id, error }));
      }
      core.performer.wake(task.id);
    }
    before = tasks.at(-1)?.order;
    if (before === undefined) return;
  }
}

const limit = 500;
