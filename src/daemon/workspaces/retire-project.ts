import { existsSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../fault.ts";
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
  /** Workspaces that stay where they are, because what is in them could not be saved. */
  readonly left: readonly string[];
}

/**
 * Takes everything of ours out of a project's repository before the project is forgotten: its workspaces, once
 * what is in them has been saved, and what hides task files. A workspace that cannot be saved stays where it is.
 */
export async function retireProject(ports: PoolPorts, project: Project): Promise<Retired> {
  const { store, places, log, workspacesOf } = ports;
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
    try {
      if (workspace.task !== "") await releaseWorkspaces(ports, workspace.task);
      await removeWorkspace(ports, workspaces, workspace);
    } catch (error) {
      if (!(error instanceof Fault) || error.retry === "later") throw error;
      log.warn("A workspace could not be saved, and stays", { project: project.name, path: workspace.path, error });
      left.push(workspace.path);
    }
  }
  // Last: what hides task files must not be gone while somebody looks what is in the workspaces.
  if (isThere && left.length === 0) await workspaces.kind.removeExclude();
  const { control } = workspaces;
  const salvaged = await control.listSalvaged().catch(() => []);
  return { control: control.folder, salvaged: salvaged.length, left };
}
