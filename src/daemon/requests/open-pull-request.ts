import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { openPullRequest as openOn } from "../forge/open-pull-request.ts";
import { remoteName } from "../remote-of.ts";
import { pullRequestView } from "../views.ts";
import { findTask } from "./find-task.ts";
import { mustBeOpen } from "./must-be-open.ts";
import { mustHave } from "./projects.ts";
import { actorFor } from "./standing.ts";

/** Pushes the task's branch and opens its pull request. Where the task stands does not change. */
export function openPullRequest(core: Core): Handler<Routes["openPullRequest"]> {
  return async (asked) => {
    const stored = await findTask(core, asked);
    // Asked as an edit: nothing about where the task stands changes.
    await actorFor(core, stored, asked, (actor) => ({ kind: "edit", set: {}, actor }));
    mustBeOpen(stored);
    const { task } = stored;
    if (core.forge === undefined) throw new Fault("forge.unavailable", "This daemon pushes nothing.");
    const { title, body, draft } = asked.body;
    const project = await mustHave(core, task.project);
    const { remote } = await core.forge.forgeOf(project);
    if (remote === undefined) {
      throw new Fault("forge.none", `${project.path} has no remote, so there is nowhere to open a pull request.`, {
        hint: `Merge it here: signalbox task merge ${task.id}\nOr add a remote first: git -C ${project.path} remote add ${remoteName} URL, then: signalbox project trust ${project.name}`,
      });
    }
    return pullRequestView(await openOn(core.forge, project, task, { title, body, isDraft: draft }));
  };
}
