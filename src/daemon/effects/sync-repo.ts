import { resolve } from "node:path";
import { Fault } from "../../fault.ts";
import type { Store } from "../../ports/store.ts";
import type { Perform } from "../perform.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";

export interface SyncPorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
}

/** Brings the branches of the user's repository, and of its remote, into the control repository. Their own stay put. */
export function syncRepo({ store, workspacesOf }: SyncPorts): Perform {
  return async (_, { task }) => {
    const project = await store.getProject(task.project);
    if (project === undefined) throw new Fault("project.missing", `There is no project "${task.project}" any more.`);
    const { git, control } = await workspacesOf(project);
    await control.syncFrom({ from: project.path, name: "user" });
    const url = await git.remoteUrl(project.path, "origin", "fetch");
    if (url === undefined) return;
    // Git takes such a path from the repository's folder.
    const from = url.startsWith(".") ? resolve(project.path, url) : url;
    await control.syncFrom({ from, name: "origin" });
  };
}
