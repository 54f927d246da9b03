import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { openPullRequest as openOn } from "../forge/open-pull-request.ts";
import { pullRequestView } from "../views.ts";
import { findTask } from "./find-task.ts";
import { mustHave } from "./projects.ts";
import { actorFor } from "./standing.ts";

/** Pushes the task's branch and opens its pull request. Where the task stands does not change. */
export function openPullRequest(core: Core): Handler<Routes["openPullRequest"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    // Asked as an edit: nothing about where the task stands changes.
    await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    const { task, isOpen } = stored;
    if (!isOpen) {
      const text = `The task is in "${task.status}", which is the end.`;
      const fix = `Continue its branch in a new task: signalbox task create --from ${task.id}`;
      throw new Refusal([{ code: "terminal", text, fix }]);
    }
    if (core.forge === undefined) throw new Fault("forge.unavailable", "This daemon pushes nothing.");
    const { title, body, draft } = asked.body;
    const project = await mustHave(core, task.project);
    return pullRequestView(await openOn(core.forge, project, task, { title, body, isDraft: draft }));
  };
}
