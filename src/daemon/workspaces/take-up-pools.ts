import { publishAgents } from "../agents-at-work.ts";
import type { PoolPorts } from "./pool-ports.ts";
import { isBegun } from "./project-workspaces.ts";
import { releaseWorkspaces } from "./release-workspaces.ts";
import { staleWorkspaces } from "./stale-workspaces.ts";
import { adoptFolders, strayFolders } from "./stray-folders.ts";

/** After a start: what was lost in a crash, or with an older copy of the store, is put right before tasks go on. */
export async function takeUpPools(ports: PoolPorts): Promise<void> {
  const { store, log, places, workspacesOf } = ports;
  for (const project of await store.listProjects()) {
    if (!isBegun(places, project)) continue;
    try {
      for (const { workspace, reason } of await staleWorkspaces(store, project.name)) {
        await releaseWorkspaces(ports, workspace.task);
        log.info("A workspace was given back", { path: workspace.path, reason });
      }
      const strays = await strayFolders(ports, project, await workspacesOf(project));
      await adoptFolders(ports, strays);
      for (const { path, workspace, reason } of strays) {
        if (workspace !== undefined) log.info("A workspace was found and taken into the pool", { path });
        else log.warn("A folder lies among the workspaces that is none", { path, reason });
      }
    } catch (error) {
      // A repository that is gone must not keep the others from going on.
      log.warn("The workspaces of a project could not be looked at", { project: project.name, error });
    }
  }
  await publishAgents({ store, places });
}
