import { Fault } from "../../fault.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Pushed } from "../../ports/records.ts";
import type { Project } from "../../ports/store.ts";
import type { Where } from "../landing-place.ts";
import { remoteName, remoteOf } from "../project.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";

/**
 * Records where the remote's branch is after a push, without fetching it: the next fetch corrects that if necessary. Returns
 * what was pushed. `user`, `at`: the commits of the user's branch and of the remote's before.
 */
export async function notePush(
  control: ControlRepository,
  where: Where,
  target: string,
  { user, at, commit }: { readonly user: string; readonly at: string | undefined; readonly commit: string },
): Promise<Pushed> {
  await control.moveRef(remoteRef(target), commit, at).catch(unlessFault);
  if (at === undefined) return { remote: remoteName };
  // Where the remote's branch is authoritative, the merge is made on top of it.
  const commits = where === "remote" || user === at ? 0 : await control.countCommits(at, user);
  return { remote: remoteName, commits };
}

/** The push that a merge would make, as far as it is known without asking the remote. */
export async function expectedPush(
  { control, git }: ProjectWorkspaces,
  project: Project,
  target: string,
  where: Where,
  user: string,
): Promise<Pushed | undefined> {
  if (where === "here" || (await remoteOf(git, project)) === undefined) return undefined;
  if (where === "remote") return { remote: remoteName, commits: 0 };
  // The daemon's pushes and the user's own are recorded in different repositories. The later one counts.
  const known = [await control.commitAt(remoteRef(target)), await git.remoteBranchAt(project.path, remoteName, target)];
  const counts: number[] = [];
  for (const at of known) {
    // The user may have fetched a commit that the control repository does not have yet.
    const commits = at === undefined ? undefined : await control.countCommits(at, user).catch(unlessFault);
    if (commits !== undefined) counts.push(commits);
  }
  return { remote: remoteName, ...(counts.length === 0 ? {} : { commits: Math.min(...counts) }) };
}

function remoteRef(target: string): string {
  return `refs/remotes/${remoteName}/${target}`;
}

function unlessFault(error: unknown): undefined {
  if (!(error instanceof Fault)) throw error;
}
