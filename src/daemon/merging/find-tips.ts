import { Fault } from "../../fault.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import { remoteName, remoteOf } from "../remote-of.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";

/** Whose branch work is merged into: the user's alone, the remote's too, or the remote's, which the user's then follows. */
export type Where = "here" | "both" | "remote";

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

/** The branch that work is merged into, as it was last looked at. */
export async function lastSeen(control: ControlRepository, branch: string, where: Where): Promise<string | undefined> {
  const there = where === "remote" ? await control.commitAt(`refs/remotes/${remoteName}/${branch}`) : undefined;
  return there ?? control.commitAt(`refs/remotes/user/${branch}`);
}

/** Looks at the user's branch and, where there is a remote that counts, at that one's. */
export async function findTips(
  { control, git }: ProjectWorkspaces,
  project: Project,
  target: string,
  where: Where,
): Promise<Tips> {
  const user = (await control.syncFrom({ from: project.path, name: "user", only: [target] })).branches[target];
  if (user === undefined) {
    throw new Fault("merge.no-target", `${project.path} has no branch "${target}" with a commit in it.`, {
      hint: `Name the default branch: signalbox project update ${project.name} --default-branch NAME`,
    });
  }
  const address = where === "here" ? undefined : await remoteOf(git, project);
  if (address === undefined) return { user, remote: undefined, base: user, apart: false };
  const at = (await control.syncFrom({ from: address, name: remoteName })).branches[target];
  const remote = { address, at };
  if (where === "remote") return { user, remote, base: at ?? user, apart: false };
  if (at === undefined || (await control.isAncestor(at, user))) return { user, remote, base: user, apart: false };
  if (await control.isAncestor(user, at)) return { user, remote, base: at, apart: false };
  return { user, remote, base: user, apart: true };
}
