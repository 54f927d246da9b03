import { Fault } from "../../fault.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { PoolPorts } from "./pool-ports.ts";
import { removeWorkspace } from "./remove-workspace.ts";

/**
 * Sees to it that there is room on the disk before a new workspace is made: free ones of all projects go, while too much
 * is taken. Nothing where the task has one, or gets one that is free, or where nobody has set a limit.
 */
export async function makeRoom(ports: PoolPorts, project: Project, task: string): Promise<void> {
  const { store, workspacesOf, limits, log } = ports;
  const { diskBytes } = limits();
  if (!Number.isFinite(diskBytes)) return;
  const pool = (await store.workspaces.list({})).filter(({ kind }) => kind !== "folder");
  if (pool.some((each) => each.project === project.name && (each.task === "" || each.task === task))) return;
  const projects = new Map((await store.listProjects()).map((each) => [each.name, each]));
  const sizes = new Map<Workspace, number>();
  for (const workspace of pool) {
    const owner = projects.get(workspace.project);
    const kind = owner && (await workspacesOf(owner)).kind;
    sizes.set(workspace, (await kind?.diskUse(workspace.path))?.bytes ?? 0);
  }
  let taken = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  for (const [workspace, size] of sizes) {
    const owner = projects.get(workspace.project);
    if (taken < diskBytes || workspace.task !== "" || owner === undefined) continue;
    try {
      if (await removeWorkspace(ports, await workspacesOf(owner), workspace)) taken -= size;
    } catch (error) {
      log.warn("A free workspace could not be removed to make room", { path: workspace.path, error });
    }
  }
  if (taken >= diskBytes) throw noRoom(taken, diskBytes);
}

function noRoom(taken: number, most: number): Fault {
  const megabytes = (bytes: number) => Math.ceil(bytes / 1024 ** 2);
  const text = `The workspaces take ${megabytes(taken)} MB of the disk; they may take ${megabytes(most)} MB.`;
  return new Fault("pool.no-room", text, {
    retry: "later",
    hint: "See what takes it, and end a task: signalbox workspace list",
  });
}
