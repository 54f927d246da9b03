import type { Workspace } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";

export interface StaleWorkspace {
  readonly workspace: Workspace;
  /** A sentence. */
  readonly reason: string;
}

/** Workspaces that are bound to a task which is over, or not there any more. */
export async function staleWorkspaces(store: Store, project: string): Promise<readonly StaleWorkspace[]> {
  const stale: StaleWorkspace[] = [];
  for (const workspace of await store.workspaces.list({ project })) {
    if (workspace.task === "" || workspace.kind === "folder") continue;
    const stored = await store.getTask(workspace.task);
    if (stored?.isOpen) continue;
    const name = stored === undefined ? workspace.task : `${project}#${stored.task.number}`;
    stale.push({ workspace, reason: `Its task ${name} is ${stored === undefined ? "gone" : "over"}.` });
  }
  return stale;
}
