import type { Store } from "../../ports/store.ts";
import { type BindPorts, unbindWorkspace } from "./bind-workspace.ts";
import type { WorkspacesOf } from "./project-workspaces.ts";
import { type SavePorts, saveWorkspace } from "./save-workspace.ts";

export interface ReleaseWorkspacesPorts extends BindPorts, SavePorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
}

/** Gives every workspace of a task back, once what is in it has been saved. Gives their folders. */
export async function releaseWorkspaces(ports: ReleaseWorkspacesPorts, task: string): Promise<readonly string[]> {
  const { store } = ports;
  const released: string[] = [];
  for (const workspace of await store.workspaces.list({ task })) {
    if (workspace.kind === "folder") {
      await store.workspaces.remove(workspace.id);
      continue;
    }
    const project = await store.getProject(workspace.project);
    if (project === undefined) continue;
    await saveWorkspace(ports, await ports.workspacesOf(project), workspace.path, task);
    await unbindWorkspace(ports, workspace);
    released.push(workspace.path);
  }
  return released;
}
