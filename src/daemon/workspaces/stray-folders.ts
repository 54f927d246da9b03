import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Workspace } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { PoolPorts } from "./pool-ports.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

export interface StrayFolder {
  readonly path: string;
  /** As which it can be taken into the pool; undefined where it is no workspace of ours, and `reason` says why. */
  readonly workspace: Workspace | undefined;
  readonly reason: string;
}

/** Folders where a project's workspaces lie, of which nothing is recorded. */
export async function strayFolders(
  { store, clock }: Pick<PoolPorts, "store" | "clock">,
  project: Project,
  { folder, kind }: ProjectWorkspaces,
): Promise<readonly StrayFolder[]> {
  const names = await readdir(folder).catch(() => []);
  const known = new Set((await store.workspaces.list({ project: project.name })).map(({ path }) => path));
  const strays: StrayFolder[] = [];
  for (const name of names.sort()) {
    const path = join(folder, name);
    if (known.has(path)) continue;
    const found = await kind.inspect(path);
    const isOurs = found.kind === "there" && /^[1-9]\d*$/.test(name);
    const id = `${project.name}/${name}`;
    strays.push({
      path,
      workspace: isOurs ? { id, project: project.name, task: "", at: clock.now(), path, kind: kind.kind } : undefined,
      reason: found.kind === "broken" ? found.reason : "Nobody knows it.",
    });
  }
  return strays;
}

/** Takes those into the pool that are workspaces, as free ones. What is in them is saved before a task gets them. */
export async function adoptFolders(
  { store, inTurn }: Pick<PoolPorts, "store" | "inTurn">,
  strays: readonly StrayFolder[],
): Promise<void> {
  for (const { workspace } of strays) {
    if (workspace === undefined) continue;
    await inTurn(`pool ${workspace.project}`, async () => {
      // A task may have got the folder in the meantime.
      if ((await store.workspaces.get(workspace.id)) === undefined) await store.workspaces.put(workspace);
    });
  }
}
