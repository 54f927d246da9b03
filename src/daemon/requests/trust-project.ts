import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import type { Obeyed } from "../../ports/git.ts";
import type { Project } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { obeyedChanges, trustProjectCommand } from "../workspaces/check-obeyed.ts";
import { continueHeld } from "./continue-held.ts";
import { mustHave } from "./projects.ts";

export function projectChanges(core: Core): Handler<Routes["projectChanges"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    return viewOf(project, await lookAt(core, project));
  };
}

/** What was shown is all right. If it has changed again since, it was not shown. */
export function trustProject(core: Core): Handler<Routes["trustProject"]> {
  return async ({ params, body }) => {
    const project = await mustHave(core, params.project ?? "");
    const { name, path } = project;
    const now = await lookAt(core, project);
    if (now.fingerprint !== body.fingerprint) {
      throw new Fault("project.changed", `The configuration, hooks or attributes of ${path} have changed just now.`, {
        hint: `Look again: ${trustProjectCommand(name)}`,
      });
    }
    await core.store.updateProject(name, { obeyed: now });
    core.log.info("What git obeys in a repository was trusted", { project: name, fingerprint: now.fingerprint });
    await continueHeld(core, name, trustProjectCommand(name));
    return viewOf(project, now);
  };
}

function viewOf({ obeyed: before }: Project, now: Obeyed) {
  return { fingerprint: now.fingerprint, changes: before === undefined ? [] : obeyedChanges(before, now) };
}

async function lookAt({ git }: Core, { path }: Project): Promise<Obeyed> {
  if (git === undefined) throw new Fault("git.missing", "There is no git to look with.");
  return git.obeyed(path);
}
