import { isAbsolute, resolve } from "node:path";
import type { Routes } from "../../api/routes.ts";
import { branchNameProblem } from "../../engine/branch-name.ts";
import { Fault, tell } from "../../fault.ts";
import type { Salvaged } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { isoTime } from "../views.ts";
import { isBegun, type ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { chosen } from "./workspaces.ts";

const folder = "refs/signalbox/salvage/";

export function listSalvage(core: Core): Handler<Routes["listSalvage"]> {
  return async ({ query }) => {
    const { found, unreadable } = await everything(core, query.project);
    found.sort((a, b) => b.salvaged.at - a.salvaged.at);
    return {
      salvaged: found.map(({ project, salvaged: { ref, at, problem = "", ...rest } }) => ({
        ...rest,
        ref: ref.slice(folder.length),
        project: project.name,
        at: isoTime(at),
        problem,
      })),
      unreadable,
    };
  };
}

export function restoreSalvage(core: Core): Handler<Routes["restoreSalvage"]> {
  return async ({ body, folder: asker }) => {
    const { ref, commit, found } = await find(core, body.ref);
    const { problem = "" } = found.salvaged;
    if (problem !== "")
      throw new Fault("salvage.unreadable", `What was salvaged under ${ref} cannot be read. ${problem}`, {
        hint: `See whether its repository is damaged: git -C ${found.workspaces.control.folder} fsck`,
      });
    if ((body.folder === undefined) === (body.branch === undefined)) {
      throw new Fault("salvage.invalid", "Say either a new folder or a new branch.", {
        hint: "--to FOLDER or --branch NAME",
      });
    }
    if (body.branch !== undefined) await makeBranch(found, commit, body.branch);
    const to = body.folder === undefined ? null : wholePath(asker, body.folder);
    if (to !== null) await found.workspaces.control.restoreFiles(commit, to);
    return { ref, commit, folder: to, branch: body.branch ?? null };
  };
}

export function dropSalvage(core: Core): Handler<Routes["dropSalvage"]> {
  return async ({ body }) => {
    const { ref, commit, found } = await find(core, body.ref);
    await found.workspaces.control.dropSalvaged(found.salvaged.ref, commit);
    core.log.info("Salvage was dropped", { ref: found.salvaged.ref, commit });
    return { ref, commit };
  };
}

interface Found {
  readonly project: Project;
  readonly workspaces: ProjectWorkspaces;
  readonly salvaged: Salvaged;
}

/** What is wrong with one project's repository hides no other's salvage. */
async function everything(
  core: Core,
  project: string | undefined,
): Promise<{ readonly found: Found[]; readonly unreadable: { project: string; problem: string }[] }> {
  const found: Found[] = [];
  const unreadable: { project: string; problem: string }[] = [];
  const { pools } = core;
  for (const each of await chosen(core, project)) {
    if (pools === undefined || !isBegun(pools.places, each)) continue;
    try {
      const workspaces = await pools.workspacesOf(each);
      const all = await workspaces.control.listSalvaged();
      for (const salvaged of all) found.push({ project: each, workspaces, salvaged });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      unreadable.push({ project: each.name, problem: tell(error) });
    }
  }
  return { found, unreadable };
}

/** By its whole name, or by its short one. */
async function find(core: Core, name: string): Promise<{ ref: string; commit: string; found: Found }> {
  const whole = name.startsWith(folder) ? name : `${folder}${name}`;
  const { found: all, unreadable } = await everything(core, undefined);
  const found = all.find(({ salvaged }) => salvaged.ref === whole);
  if (found !== undefined) return { ref: whole.slice(folder.length), commit: found.salvaged.commit, found };
  const unseen = unreadable.map(({ project, problem }) => ` The salvage of ${project} cannot be read: ${problem}`);
  throw new Fault("salvage.missing", `Nothing is salvaged under ${JSON.stringify(name)}.${unseen.join("")}`, {
    hint: "See what there is: signalbox salvage list",
  });
}

async function makeBranch({ project, workspaces }: Found, commit: string, branch: string): Promise<void> {
  const problem = branchNameProblem(branch);
  if (problem !== undefined) throw new Fault("salvage.invalid", problem, { hint: "Choose another name." });
  const order = { repository: project.path, branch, commit, expected: undefined, workspaces: workspaces.folder };
  const result = await workspaces.control.publish(order);
  if (result.kind === "published" && result.at === commit) return;
  if (result.kind === "waits") throw new Fault("salvage.conflict", result.text);
  throw new Fault("salvage.exists", `${project.path} has a branch "${branch}" already.`, {
    hint: "Choose another name; nothing is ever overwritten.",
  });
}

function wholePath(asker: string, path: string): string {
  if (!isAbsolute(path) && asker === "") {
    throw new Fault("salvage.invalid", `${path} is no whole path.`, { hint: "Begin it with a slash." });
  }
  return resolve(asker || "/", path);
}
