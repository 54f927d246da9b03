import { Fault } from "../../fault.ts";
import type { Project } from "../../ports/store.ts";
import { remoteName, remoteOf } from "../remote-of.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";

/** Where a branch is, here and elsewhere. */
export interface Tips {
  /** In the user's repository. */
  readonly user: string;
  /** Undefined where nothing is pushed. */
  readonly remote: { readonly address: string; readonly at: string | undefined } | undefined;
  /** The one of both that contains the other; `apart` where none does. */
  readonly base: string;
  readonly apart: boolean;
}

/** Looks at the user's branch and, where there is a remote that it is pushed to, at that one's. */
export async function findTips(
  { control, git }: ProjectWorkspaces,
  project: Project,
  target: string,
  pushes: boolean,
): Promise<Tips> {
  const user = (await control.syncFrom({ from: project.path, name: "user" })).branches[target];
  if (user === undefined) {
    throw new Fault("merge.no-target", `${project.path} has no branch "${target}" with a commit in it.`, {
      hint: `Name the default branch: signalbox project update ${project.name} --default-branch NAME`,
    });
  }
  const address = pushes ? await remoteOf(git, project) : undefined;
  if (address === undefined) return { user, remote: undefined, base: user, apart: false };
  const at = (await control.syncFrom({ from: address, name: remoteName })).branches[target];
  const remote = { address, at };
  if (at === undefined || (await control.isAncestor(at, user))) return { user, remote, base: user, apart: false };
  if (await control.isAncestor(user, at)) return { user, remote, base: at, apart: false };
  return { user, remote, base: user, apart: true };
}
