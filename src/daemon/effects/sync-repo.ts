import type { Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import { remoteName, remoteOf } from "../remote-of.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";

export interface SyncPorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
}

/** Brings the branches of the user's repository, and of its remote, into the control repository. Their own stay put. */
export function syncRepo({ store, workspacesOf }: SyncPorts): Perform {
  return async (_, { task }) => {
    const project = await projectOf(store, task.project);
    const { git, control } = await workspacesOf(project);
    await control.syncFrom({ from: project.path, name: "user" });
    const from = await remoteOf(git, project, "fetch");
    if (from !== undefined) await control.syncFrom({ from, name: remoteName });
  };
}
