import { isAbsolute, resolve } from "node:path";
import type { Routes } from "../../api/routes.ts";
import type { WorkspaceView } from "../../api/workspaces.ts";
import { branchNameProblem } from "../../engine/branch-name.ts";
import { Fault, tell } from "../../fault.ts";
import type { Salvaged } from "../../ports/control-repository.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Inspection, WorkspaceKind } from "../../ports/workspaces.ts";
import type { Core } from "../core.ts";
import type { Handler } from "../handlers.ts";
import { mustHave } from "../project.ts";
import { isoTime } from "../views.ts";
import type { PoolPorts } from "../workspaces/pool.ts";
import { isBegun, type ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { describeUnsaved } from "../workspaces/unsaved-workspaces.ts";
import { cleanPools, trashOrder } from "../workspaces/upkeep.ts";

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
      throw new Fault("salvage.unreadable", `The salvage ${ref} cannot be read. ${problem}`, {
        hint: `Check its repository for damage: git -C ${found.workspaces.control.folder} fsck`,
      });
    if ((body.folder === undefined) === (body.branch === undefined)) {
      throw new Fault("salvage.invalid", "Name either a new folder or a new branch.", {
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

/** All salvage. A project whose repository cannot be read is reported beside it, and hides no other project's salvage. */
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

/** Finds salvage by its full ref or by its short name. */
async function find(core: Core, name: string): Promise<{ ref: string; commit: string; found: Found }> {
  const whole = name.startsWith(folder) ? name : `${folder}${name}`;
  const { found: all, unreadable } = await everything(core, undefined);
  const found = all.find(({ salvaged }) => salvaged.ref === whole);
  if (found !== undefined) return { ref: whole.slice(folder.length), commit: found.salvaged.commit, found };
  const unseen = unreadable.map(({ project, problem }) => ` The salvage of ${project} cannot be read: ${problem}`);
  throw new Fault("salvage.missing", `There is no salvage ${JSON.stringify(name)}.${unseen.join("")}`, {
    hint: "List the salvage: signalbox salvage list",
  });
}

async function makeBranch({ project, workspaces }: Found, commit: string, branch: string): Promise<void> {
  const problem = branchNameProblem(branch);
  if (problem !== undefined) throw new Fault("salvage.invalid", problem, { hint: "Choose another name." });
  const order = { repository: project.path, branch, commit, expected: undefined, workspaces: workspaces.folder };
  const result = await workspaces.control.publish(order);
  if (result.kind === "published" && result.at === commit) return;
  if (result.kind === "waits") throw new Fault("salvage.conflict", result.text);
  throw new Fault("salvage.exists", `${project.path} already has a branch "${branch}".`, {
    hint: "Choose another name; Signalbox never overwrites a branch.",
  });
}

function wholePath(asker: string, path: string): string {
  if (!isAbsolute(path) && asker === "") {
    throw new Fault("salvage.invalid", `${path} is not an absolute path.`, { hint: "Begin it with a slash." });
  }
  return resolve(asker || "/", path);
}

export function listWorkspaces(core: Core): Handler<Routes["listWorkspaces"]> {
  return async ({ query }) => {
    const workspaces: WorkspaceView[] = [];
    const trash = { folders: 0, size: 0 };
    for (const project of await chosen(core, query.project)) {
      const { pools } = core;
      if (pools === undefined || !isBegun(pools.places, project)) continue;
      const { kind } = await pools.workspacesOf(project);
      for (const each of await core.store.workspaces.list({ project: project.name })) {
        // A folder that a person registered for a run is the person's, so it is not inspected.
        if (each.kind !== "folder") workspaces.push(await workspaceView(core, kind, each, each.kind));
      }
      const { left, size } = await trashOf(pools, kind);
      trash.folders += left;
      trash.size += size;
    }
    return { workspaces, size: workspaces.reduce((sum, { size }) => sum + size, 0), trash };
  };
}

export function cleanWorkspaces(core: Core): Handler<Routes["cleanWorkspaces"]> {
  return async ({ body }) => {
    const projects = await chosen(core, body.project);
    return { done: core.pools === undefined ? [] : await cleanPools(core.pools, projects, body.dryRun ?? false) };
  };
}

/** One project, or all of them. */
export async function chosen(core: Core, name: string | undefined): Promise<readonly Project[]> {
  return name === undefined ? core.store.listProjects() : [await mustHave(core, name)];
}

async function workspaceView(
  { store }: Core,
  kind: WorkspaceKind,
  workspace: Workspace,
  of: WorkspaceView["kind"],
): Promise<WorkspaceView> {
  const { project, path, unsaved } = workspace;
  const stored = workspace.task === "" ? undefined : await store.getTask(workspace.task);
  const found = await look(kind, path);
  const { bytes, isCut } = await kind.diskUse(path);
  return {
    project,
    path,
    kind: of,
    task:
      stored === undefined ? null : { id: stored.task.id, number: stored.task.number, summary: stored.task.summary },
    branch: found.kind === "there" ? (found.branch ?? null) : null,
    state: found.kind === "there" ? (found.dirty ? "dirty" : "clean") : found.kind,
    reason: reasonOf(workspace, found),
    isUnsaved: unsaved !== undefined,
    size: bytes,
    isCut,
  };
}

function reasonOf(workspace: Workspace, found: Inspection): string {
  const { unsaved } = workspace;
  const isKept = unsaved !== undefined && (found.kind === "broken" || (found.kind === "there" && unsaved.isSaved));
  if (isKept) return describeUnsaved(workspace).reason;
  return found.kind === "broken" ? found.reason : "";
}

async function look(kind: WorkspaceKind, path: string): Promise<Inspection> {
  try {
    return await kind.inspect(path);
  } catch (error) {
    return { kind: "broken", reason: error instanceof Error ? error.message : String(error) };
  }
}

function trashOf({ clock, limits }: PoolPorts, kind: WorkspaceKind) {
  const everything = { keepFor: Number.MAX_SAFE_INTEGER, most: Number.MAX_SAFE_INTEGER };
  return kind.deleteTrash({ ...trashOrder(limits(), clock.now()), ...everything, isDry: true });
}
