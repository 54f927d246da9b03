import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import type { TaskEvent } from "../../engine/decision.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { isoTime } from "../views.ts";
import { findTask } from "./find-task.ts";
import { actorFor } from "./standing.ts";

/** What somebody says goes into the task's history, and nowhere else. */
export function commentTask(core: Core): Handler<Routes["commentTask"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    const { id } = stored.task;
    const text = asked.body.text.trim();
    // Asked as an edit: nothing about where the task stands changes.
    const { role, run = "" } = await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    if (text === "") throw new Refusal([{ code: "bad-value", text: "The comment is empty.", fix: "Say something." }]);
    const at = core.clock.now();
    const data = { text, ...(run === "" ? {} : { run }) };
    const event: TaskEvent = { type: "task.commented", by: role, data, set: {} };
    await core.store.addEvents(id, [event], at);
    return { task: id, at: isoTime(at) };
  };
}
