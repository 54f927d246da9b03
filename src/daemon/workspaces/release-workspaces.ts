import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { Fault } from "../../fault.ts";
import type { Store } from "../../ports/store.ts";
import { type BindPorts, unbindWorkspace } from "./bind-workspace.ts";
import type { Parking } from "./parking.ts";
import type { WorkspacesOf } from "./project-workspaces.ts";
import { type SavePorts, saveWorkspace } from "./save-workspace.ts";
import { filesOf } from "./task-files.ts";

export interface ReleaseWorkspacesPorts extends BindPorts, SavePorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  readonly parking: Pick<Parking, "released">;
  /** Ends what still runs for the task: nobody may work in a folder that is another task's. */
  endRuns(task: string): Promise<void>;
  /** Ends what the task's commands have left behind, such as a server that its setup has started. */
  endCommands(task: string): Promise<void>;
}

/** Gives every workspace of a task back, once its runs have ended and what is in it has been saved. Gives their folders. */
export async function releaseWorkspaces(ports: ReleaseWorkspacesPorts, task: string): Promise<readonly string[]> {
  const { store } = ports;
  const released: string[] = [];
  await ports.endRuns(task);
  // Not before the teardown: it may want to stop by itself what the setup has started.
  await ports.endCommands(task);
  for (const workspace of await store.workspaces.list({ task })) {
    if (workspace.kind === "folder") {
      await store.workspaces.remove(workspace.id);
      continue;
    }
    const project = await store.getProject(workspace.project);
    if (project === undefined) continue;
    const salvage = await saveWorkspace(ports, await ports.workspacesOf(project), workspace.path, task);
    // Whoever is at writing the task's files must be done before the folder is somebody else's.
    await ports.inTurn(filesOf(task), () => unbindWorkspace(ports, workspace));
    if (salvage !== undefined) ports.parking.released(workspace);
    released.push(workspace.path);
  }
  return released;
}

/**
 * For a task that is forgotten: gives its workspaces back, and keeps those whose content cannot be saved as they are, under a
 * name that no task ever gets. Gives the folders that were kept.
 */
export async function leaveWorkspaces(ports: ReleaseWorkspacesPorts, task: string): Promise<readonly string[]> {
  try {
    await releaseWorkspaces(ports, task);
    return [];
  } catch (error) {
    if (!(error instanceof Fault) || error.retry === "later") throw error;
    ports.log.warn("A workspace could not be saved, and is kept as it is", { task, error });
    return setAside(ports, task);
  }
}

async function setAside({ store }: ReleaseWorkspacesPorts, task: string): Promise<readonly string[]> {
  const kept: string[] = [];
  for (const workspace of await store.workspaces.list({ task })) {
    const aside = `${workspace.path}-left-${task}`;
    if (existsSync(workspace.path)) {
      await rename(workspace.path, aside);
      kept.push(aside);
    }
    await store.workspaces.remove(workspace.id);
  }
  return kept;
}
