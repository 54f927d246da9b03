import { join } from "node:path";
import type { Person } from "../../../ports/git-names.ts";
import type { WorkspaceKind } from "../../../ports/workspaces.ts";
import type { RunGit } from "../git-runner.ts";
import { createClones, createWorktrees } from "./create-kind.ts";

export interface KindsOptions {
  readonly run: RunGit;
  /** Where the workspaces of all projects lie, and what was taken from them. */
  readonly places: { readonly workspaces: string; readonly trash: string };
  identityOf(repository: string): Promise<Person>;
}

/** How the working copies of a project are made, of either kind. */
export function createKinds({ run, places, identityOf }: KindsOptions) {
  return async (
    { name, path: repository }: { readonly name: string; readonly path: string },
    { folder: control }: { readonly folder: string },
    kind: WorkspaceKind["kind"],
  ): Promise<WorkspaceKind> => {
    const trash = join(places.trash, name);
    // No name of a project can have a plus.
    const state = join(places.workspaces, kind === "clone" ? `.${name}+clones` : `.${name}`);
    const options = { run, repository, control, state, trash };
    if (kind === "worktree") return createWorktrees(options);
    // Whom git does not know cannot commit there, as in the user's own repository.
    const person = await identityOf(repository).catch(() => undefined);
    return createClones(person === undefined ? options : { ...options, person });
  };
}
