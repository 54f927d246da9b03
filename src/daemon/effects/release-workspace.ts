import type { Perform } from "../perform.ts";
import type { Submit } from "../submit.ts";
import { type ReleaseWorkspacesPorts, releaseWorkspaces } from "../workspaces/release-workspaces.ts";

export interface ReleasePorts extends ReleaseWorkspacesPorts {
  readonly submit: Submit;
  publishAgents(): Promise<void>;
}

/**
 * Gives the task's workspace back. Whatever is in it is saved first: what is committed on the task's branch, and what is
 * not under a ref of its own. Nothing where the task has none.
 */
export function releaseWorkspace(ports: ReleasePorts): Perform {
  return async (_, { task }) => {
    await releaseWorkspaces(ports, task.id);
    if (task.workspace !== "") {
      await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { workspace: "" } });
    }
    await ports.publishAgents();
  };
}
