import type { Routes } from "../../api/routes.ts";
import type { WorkspaceView } from "../../api/workspace-wires.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Inspection, WorkspaceKind } from "../../ports/workspaces.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { cleanPools } from "../workspaces/clean-pools.ts";
import type { PoolPorts } from "../workspaces/pool-ports.ts";
import { isBegun } from "../workspaces/project-workspaces.ts";
import { trashOrder } from "../workspaces/upkeep-limits.ts";
import { mustHave } from "./projects.ts";

export function listWorkspaces(core: Core): Handler<Routes["listWorkspaces"]> {
  return async ({ query }) => {
    const workspaces: WorkspaceView[] = [];
    const trash = { folders: 0, size: 0 };
    for (const project of await chosen(core, query.project)) {
      const { pools } = core;
      if (pools === undefined || !isBegun(pools.places, project)) continue;
      const { kind } = await pools.workspacesOf(project);
      for (const each of await core.store.workspaces.list({ project: project.name })) {
        // What a person has lent to a run is not ours to look into.
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
  const { project, path } = workspace;
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
    reason: found.kind === "broken" ? found.reason : "",
    size: bytes,
    isCut,
  };
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
