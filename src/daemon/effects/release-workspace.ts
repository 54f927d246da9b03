import { Fault } from "../../fault.ts";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import type { Submit } from "../submit.ts";
import { type BindPorts, unbindWorkspace } from "../workspaces/bind-workspace.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";

export interface ReleasePorts extends BindPorts {
  readonly store: Store;
  readonly log: Log;
  readonly submit: Submit;
  readonly workspacesOf: WorkspacesOf;
  publishAgents(): Promise<void>;
}

/**
 * Gives the task's workspace back. Whatever is in it is saved first: what is committed on the task's branch, and what is
 * not under a ref of its own. Nothing where the task has none.
 */
export function releaseWorkspace(ports: ReleasePorts): Perform {
  const { store, log, clock } = ports;
  return async (_, { task }) => {
    for (const workspace of await store.workspaces.list({ task: task.id })) {
      if (workspace.kind === "folder") {
        await store.workspaces.remove(workspace.id);
        continue;
      }
      const project = await store.getProject(task.project);
      if (project === undefined) continue;
      const { control, kind } = await ports.workspacesOf(project);
      const folder = workspace.path;
      const found = await kind.inspect(folder);
      if (found.kind === "there" && found.branch !== undefined)
        await control.collect({ folder, branch: found.branch, task: task.id });
      const order = { folder, task: task.id, at: clock.now(), repository: project.path };
      const { saved } = await control.salvage(order).catch((error) => {
        // Somebody has put a link in its place: whoever gets the workspace next says so. The task need not wait for that.
        if (found.kind === "there" || !(error instanceof Fault) || error.code !== "git.not-a-repository") throw error;
        log.warn("A workspace could not be saved", { folder, error });
        return { saved: undefined };
      });
      if (saved !== undefined) log.info("What was not committed was saved", { task: task.id, ref: saved.ref });
      await unbindWorkspace(ports, workspace);
    }
    if (task.workspace !== "") {
      await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { workspace: "" } });
    }
    await ports.publishAgents();
  };
}
