import { dirname, join } from "node:path";
import type { ControlRepository } from "../../../ports/control-repository.ts";
import { syncFolder } from "../../sync-folder.ts";
import { branchRef, checkCommit, noCommit } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkFolder } from "../control/fetch-into.ts";
import type { GitPlace } from "../git-runner.ts";
import { branchAt, commonFolderOf } from "./git-folders.ts";
import { giveObjects } from "./give-objects.ts";

type Order = Parameters<ControlRepository["restoreBranch"]>[0];

/** A worktree that has the branch checked out keeps its files and its index: for git, nothing has happened there. */
export async function restoreBranch(control: ControlGit, { repository, branch, commit, signal }: Order): Promise<void> {
  const place: GitPlace = { folder: checkFolder(repository), configuration: "user" };
  const ref = branchRef(branch);
  if ((await branchAt(control.run, place, ref)) !== undefined) return;
  await giveObjects(control, place, checkCommit(commit), signal);
  const args = ["update-ref", "--no-deref", "-m", "branch restored", ref, commit, noCommit(commit)];
  await control.run(place, args, { writes: true, signal });
  await syncFolder(dirname(join(await commonFolderOf(control.run, place), ref)));
}
