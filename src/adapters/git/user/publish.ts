import { resolve, sep } from "node:path";
import { Fault } from "../../../fault.ts";
import type { PublishOrder, PublishResult, Waits } from "../../../ports/control-repository.ts";
import { branchRef, checkCommit } from "../check-names.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkFolder, fetchFlags, fromControl } from "../control/fetch-into.ts";
import { isAncestor } from "../control/read-history.ts";
import { gitFault } from "../git-fault.ts";
import type { GitPlace } from "../git-runner.ts";
import { syncRef } from "../lasting.ts";
import { forwardWorktree } from "./forward-worktree.ts";
import { branchAt, commonFolderOf } from "./git-folders.ts";
import { giveObjects, makeLasting } from "./give-objects.ts";
import { waits } from "./waits.ts";
import { listWorktrees, type Worktree } from "./worktrees.ts";

/**
 * Git's own rules decide: a branch that is checked out is fast-forwarded there, any other is fetched into without force.
 * Whatever was said on the way, in the end only where the branch is counts.
 */
export async function publish(control: ControlGit, order: PublishOrder): Promise<PublishResult> {
  const { repository, branch, commit, expected, signal } = order;
  const place: GitPlace = { folder: checkFolder(repository), configuration: "user" };
  const ref = branchRef(branch);
  checkCommit(commit);
  if (expected !== undefined && !(await isAncestor(control, expected, commit))) {
    throw new Fault("git.diverged", `${commit} does not contain ${expected}, which "${branch}" is at.`, {
      hint: "Merge again, onto where the branch is now.",
    });
  }
  const before = await branchAt(control.run, place, ref);
  if (before !== undefined && (await contains(control, place, before, commit, expected)))
    return alreadyThere(control, place, ref, { at: before, commit: before === expected ? before : commit }, signal);
  if (before !== expected) return { kind: "moved", to: before };

  const holders = await holdersOf(control, place, ref);
  if (before === undefined && holders.length > 0) {
    throw new Fault("git.no-commits", `"${branch}" has no commit yet, and is checked out in ${holders[0]?.folder}.`, {
      hint: "Make a first commit there: git commit --allow-empty -m start",
    });
  }
  const inTheWay = holdersInTheWay(branch, holders, order.workspaces);
  if (inTheWay !== undefined) return inTheWay;
  const [holder] = holders;
  const waiting =
    holder === undefined
      ? await fetchBranch(control, place, commit, ref, signal)
      : await forwardWorktree(control, { folder: holder.folder, ref, before: before ?? "", commit, signal });
  if (waiting !== undefined) return waiting;

  const at = await branchAt(control.run, place, ref);
  if (at === before) throw switched(branch, repository);
  if (at === undefined || !(await contains(control, place, at, commit, expected))) return { kind: "moved", to: at };
  await syncRef(await commonFolderOf(control.run, place), ref);
  return { kind: "published", at };
}

/** We may have been killed before it was durable, or the user has merged it without an fsync. */
async function alreadyThere(
  control: ControlGit,
  place: GitPlace,
  ref: string,
  { at, commit }: { readonly at: string; readonly commit: string },
  signal: AbortSignal | undefined,
): Promise<PublishResult> {
  await makeLasting(control, place, commit, signal);
  await syncRef(await commonFolderOf(control.run, place), ref, true);
  return { kind: "published", at };
}

function switched(branch: string, repository: string): Fault {
  return new Fault(
    "git.checked-out-elsewhere",
    `Another branch than "${branch}" was checked out in ${repository} just now.`,
    {
      retry: "later",
      hint: "It is done again. If that branch has commits too many, they are those of the merge: git reflog",
    },
  );
}

/** Without force: what is not contained in the commit stays where it is, and git says no. */
async function fetchBranch(
  control: ControlGit,
  place: GitPlace,
  commit: string,
  ref: string,
  signal: AbortSignal | undefined,
): Promise<Waits | undefined> {
  try {
    await giveObjects(control, place, commit, signal);
    const { code, stderr } = await control.run(
      place,
      ["fetch", ...fetchFlags, ...fromControl, "--end-of-options", control.folder, `${commit}:${ref}`],
      // 1: the branch has moved to something else.
      { accepts: [0, 1], protocols: ["file"], isLong: true, writes: true, signal },
    );
    if (code === 0 || /\(non-fast-forward\)/.test(stderr)) return undefined;
    throw gitFault({ command: "fetch", cwd: place.folder, code, stderr, isRemote: false });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.code === "git.locked") return waits("locked", `${error.message} ${error.hint}`);
    // It was checked out just now, or a rebase holds it.
    if (error.code === "git.checked-out-elsewhere") return waits("checked-out", `${error.message} ${error.hint}`);
    throw error;
  }
}

/** The worktrees that have a branch checked out. */
export async function holdersOf(control: ControlGit, place: GitPlace, ref: string): Promise<readonly Worktree[]> {
  return (await listWorktrees(control.run, place)).filter((worktree) => worktree.branch === ref);
}

export function holdersInTheWay(
  branch: string,
  holders: readonly Worktree[],
  workspaces: string | undefined,
): Waits | undefined {
  const [first] = holders;
  if (holders.length > 1) {
    const folders = holders.map(({ folder }) => folder).join(" and ");
    return waits("checked-out", `"${branch}" is checked out in ${folders}. Leave it checked out in one of them only.`);
  }
  if (first?.isMissing) {
    const text = `"${branch}" is checked out in ${first.folder}, which is not there. If it is gone: git worktree prune`;
    return waits("checked-out", text);
  }
  if (first !== undefined && workspaces !== undefined && first.folder.startsWith(resolve(workspaces) + sep)) {
    return waits(
      "checked-out",
      `"${branch}" is checked out in the workspace ${first.folder}. Check out another branch there.`,
    );
  }
  return undefined;
}

/** Where the commit is not there at all, nothing contains it; no remote is asked for it. */
async function contains(
  control: ControlGit,
  place: GitPlace,
  tip: string,
  commit: string,
  expected: string | undefined,
): Promise<boolean> {
  if (tip === commit) return true;
  // The commit contains it, so it cannot contain the commit.
  if (tip === expected) return false;
  const env = { GIT_NO_LAZY_FETCH: "1" };
  const ids = [commit, tip];
  const asked = await control.run(place, ["merge-base", "--is-ancestor", "--end-of-options", ...ids], {
    accepts: [0, 1, 128],
    env,
  });
  return asked.code === 0;
}
