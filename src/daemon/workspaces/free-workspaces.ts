import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import type { StrayFolder } from "./stray-folders.ts";

/** A workspace of a pool, and whether it may go. */
export interface ToClean {
  readonly workspace: Workspace;
  readonly isNeeded: boolean;
  /** A sentence. */
  readonly reason: string;
}

/**
 * What is to become of each workspace. `strays` are those that are not recorded yet. Free ones go where something is wrong
 * with them, or where there are more than the project may have: the last ones first.
 */
export async function freeWorkspaces(
  store: Store,
  project: Project,
  kind: WorkspaceKind,
  strays: readonly StrayFolder[],
): Promise<readonly ToClean[]> {
  const recorded = (await store.workspaces.list({ project: project.name })).filter((each) => each.kind !== "folder");
  const adopted = strays.flatMap(({ workspace }) => (workspace === undefined ? [] : [workspace]));
  const pool = [...recorded, ...adopted.filter(({ id }) => !recorded.some((each) => each.id === id))];
  let excess = pool.length - project.poolSize;
  const found: ToClean[] = [];
  for (const workspace of pool.toReversed()) {
    const stored = workspace.task === "" ? undefined : await store.getTask(workspace.task);
    if (stored?.isOpen) {
      const { number, summary } = stored.task;
      const reason = `${project.name}#${number}${summary === "" ? "" : ` "${summary}"`} has it.`;
      found.push({ workspace, isNeeded: true, reason });
      continue;
    }
    const look = await kind.inspect(workspace.path);
    const flaw = look.kind === "missing" ? "Its folder is gone." : look.kind === "broken" ? look.reason : undefined;
    const isTooMuch = excess > 0;
    if (flaw !== undefined || isTooMuch) excess -= 1;
    const tooMuch = `It is free, and the pool has ${pool.length} of ${project.poolSize}.`;
    const reason = flaw ?? (isTooMuch ? tooMuch : "It is free, for the next task.");
    found.push({ workspace, isNeeded: flaw === undefined && !isTooMuch, reason });
  }
  return found.reverse();
}
