import type { Routes } from "../../api/routes.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { viewOf } from "../views.ts";
import { findTask } from "./find-task.ts";
import { ask } from "./move-task.ts";

/** What failed is owed again. A task that was held because of it goes on. */
export function retryTask(core: Core): Handler<Routes["retryTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { id, held } = stored.task;
    const failed = (await core.store.openEffects(id)).filter(({ state }) => state === "failed").length;
    if (held?.again === "effects") {
      const { task } = await ask(core, asked, stored, (actor) => ({ kind: "continue", actor }));
      return { retried: failed, task };
    }
    const retried = await core.store.retryEffects(id, core.clock.now());
    core.performer.wake(id);
    return { retried, task: await viewOf(core, stored) };
  };
}
