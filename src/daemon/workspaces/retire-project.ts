import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Project } from "../../ports/store.ts";
import type { PoolPorts } from "./pool-ports.ts";
import { isBegun } from "./project-workspaces.ts";
import { releaseWorkspaces } from "./release-workspaces.ts";
import { removeWorkspace } from "./remove-workspace.ts";

export interface Retired {
  /** The control repository, which stays. */
  readonly control: string;
  /** How much is salvaged in it. */
  readonly salvaged: number;
  /** Workspaces that stay where they are, because the repository that they belong to is gone. */
  readonly left: readonly string[];
}

/**
 * Takes everything of ours out of a project's repository before the project is forgotten: its workspaces, once
 * what is in them has been saved, and what hides task files. Refused, with what is left as it was, where something cannot be saved.
 */
export async function retireProject(ports: PoolPorts, project: Project): Promise<Retired> {
  const { store, places, workspacesOf } = ports;
  if (!isBegun(places, project)) return { control: "", salvaged: 0, left: [] };
  const workspaces = await workspacesOf(project);
  const isThere = existsSync(join(project.path, ".git"));
  const left: string[] = [];
  for (const workspace of await store.workspaces.list({ project: project.name })) {
    if (workspace.kind === "folder") continue;
    if (!isThere) {
      left.push(workspace.path);
      continue;
    }
    if (workspace.task !== "") await releaseWorkspaces(ports, workspace.task);
    await removeWorkspace(ports, workspaces, workspace);
  }
  // Last: what hides task files must not be gone while somebody looks what is in the workspaces.
  if (isThere) await workspaces.kind.removeExclude();
  const { control } = workspaces;
  return { control: control.folder, salvaged: (await control.listSalvaged()).length, left };
}
