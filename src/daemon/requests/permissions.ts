import type { Routes } from "../../api/routes.ts";
import { Fault } from "../../fault.ts";
import { readRepositoryConfig, trust } from "../../home/trust.ts";
import type { Obeyed } from "../../ports/git.ts";
import type { MovedBranch, Project } from "../../ports/store.ts";
import { areAllowed, areConfined, fullPermissionRuns } from "../agents/harnesses.ts";
import { chooseWorkflow, continueHeld } from "../choose-workflow.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { configFor } from "../make-task.ts";
import { mustHave } from "../project.ts";
import { isoTime } from "../views.ts";
import { isShareless, obeyedChanges, trustProjectCommand } from "../workspaces/guard-workspaces.ts";
import { settleMovedBranch } from "../workspaces/moved-branches.ts";
import { userBranches } from "../workspaces/own-branches.ts";
import { trustCommand } from "../workspaces/project-settings.ts";
import { agentsOf } from "./tasks.ts";

export function projectPermissions(core: Core): Handler<Routes["projectPermissions"]> {
  return async ({ params, query }) => {
    const { ports } = agentsOf(core);
    const project = await mustHave(core, params.project ?? "");
    const config = configFor(core, project, query);
    const { workflow } = await chooseWorkflow(core, project, config.workflow.value);
    const harness = config.harness.value;
    const task = { harness, reviewHarness: config.reviewHarness.value || harness };
    return {
      allowed: areAllowed(ports.config(), project),
      needed: fullPermissionRuns(ports.harnesses, workflow, task).map((each) => ({ ...each, roles: [...each.roles] })),
      workspaces: project.workspaces,
      sandboxed:
        project.workspaces === "clone" &&
        areConfined(ports.harnesses, workflow, task, ports.config()) &&
        (await ports.sandbox?.detect())?.works === true,
    };
  };
}

/** Trusts the commands and choices in a repository's configuration, and continues the tasks that were held for that. */
export function trustConfig(core: Core): Handler<Routes["trustConfig"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    const found = readRepositoryConfig(core.home, project.path);
    if (found === undefined) {
      throw new Fault(
        "usage",
        `${project.path}/.signalbox is Signalbox's home, so the repository has no configuration of its own.`,
      );
    }
    const { file, hash, commands, choices } = found;
    trust(core.places, hash, `${project.name} ${file} ${isoTime(core.clock.now())}`);
    core.log.info("A configuration was trusted", { file, hash });
    await continueHeld(core, project.name, trustCommand(project.name));
    return { hash, file, commands, choices };
  };
}

export function projectChanges(core: Core): Handler<Routes["projectChanges"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    return viewOf(project, await readSettings(core, project));
  };
}

/** Trusts the git settings that the person was shown. If they have changed since, the request is refused. */
export function trustProject(core: Core): Handler<Routes["trustProject"]> {
  return async ({ params, body }) => {
    const project = await mustHave(core, params.project ?? "");
    const { name, path } = project;
    const now = await readSettings(core, project);
    if (now.fingerprint !== body.fingerprint) {
      throw new Fault("project.changed", `The configuration, hooks or attributes of ${path} have changed just now.`, {
        hint: `Review them again: ${trustProjectCommand(name)}`,
      });
    }
    await core.store.updateProject(name, { obeyed: { ...now, isApart: await isShareless(core.store, project) } });
    core.log.info("What git obeys in a repository was trusted", { project: name, fingerprint: now.fingerprint });
    await continueHeld(core, name, trustProjectCommand(name));
    return viewOf(project, now);
  };
}

/** The user's branches that agents in worktrees may have moved, as of now. */
export function movedBranches(core: Core): Handler<Routes["movedBranches"]> {
  return async ({ params }) => {
    const project = await mustHave(core, params.project ?? "");
    // Reading the branches records what was moved since the last time.
    if (core.repositories !== undefined)
      await userBranches((await core.repositories.workspacesOf(project)).control, project);
    const { movedBranches = [] } = await mustHave(core, project.name);
    return { branches: movedBranches.map(movedView) };
  };
}

export function settleBranch(core: Core): Handler<Routes["settleBranch"]> {
  return async ({ params, body: { branch, decision } }) => {
    const project = await mustHave(core, params.project ?? "");
    if (core.repositories === undefined) throw new Fault("git.unavailable", "This daemon works without git.");
    const { control } = await core.repositories.workspacesOf(project);
    const moved = await settleMovedBranch({ ...core, control }, project, branch, decision);
    core.log.info("A person has decided about a moved branch", { project: project.name, decision, ...moved });
    core.needs.noticedAll();
    return movedView(moved);
  };
}

function movedView({ tasks, at, ...moved }: MovedBranch) {
  return { ...moved, tasks: [...tasks], at: isoTime(at) };
}

function viewOf({ obeyed: before }: Project, now: Obeyed) {
  return { fingerprint: now.fingerprint, changes: before === undefined ? [] : obeyedChanges(before, now) };
}

async function readSettings({ git }: Core, { path }: Project): Promise<Obeyed> {
  if (git === undefined) throw new Fault("git.missing", "The daemon runs without git, so it cannot read git settings.");
  return git.obeyed(path);
}
