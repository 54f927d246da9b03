import { dirname, join, resolve, sep } from "node:path";
import { syncFolderIfThere } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import type {
  GiveOrder,
  PublishOrder,
  PublishResult,
  RestoreOrder,
  UndoUpdateOrder,
  Waits,
} from "../../../ports/control-repository.ts";
import { shellWord } from "../../../shell-quote.ts";
import { sentences } from "../../../text.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkFolder, fetchFlags, fromControl } from "../control/fetch-into.ts";
import { isAncestor } from "../control/history.ts";
import { gitFault } from "../faults.ts";
import { syncRef } from "../lasting.ts";
import { branchRef, checkCommit, noCommit } from "../names.ts";
import type { GitPlace } from "../runner.ts";
import {
  busyWith,
  changesInTheWay,
  forwardWorktree,
  hasUpdateNotes,
  takeBack,
  updateNote,
} from "./forward-worktree.ts";
import { checkoutOf, restoredMessage } from "./moved-branch.ts";
import {
  branchAt,
  commonFolderOf,
  giveObjects,
  listWorktrees,
  localChanges,
  makeLasting,
  type Worktree,
  waits,
} from "./repository.ts";

/** Leftovers of an interrupted update look like the user's changes: then this reports none, and `publish` decides. */
export async function inTheWay(control: ControlGit, order: PublishOrder): Promise<Waits | undefined> {
  const { repository, branch, commit, expected, workspaces } = order;
  const holders = await holdersOf(
    control,
    { folder: checkFolder(repository), configuration: "user" },
    branchRef(branch),
  );
  const held = holdersInTheWay(branch, holders, workspaces);
  const [holder] = holders;
  if (held !== undefined || holder === undefined || expected === undefined) return held;
  const place = { folder: holder.folder, configuration: "user" } as const;
  const busy = await busyWith(control, place);
  if (busy !== undefined || updateNote(control, holder.folder).cutShort.length > 0) return busy;
  const changes = (await localChanges(control, place, expected, commit)).filter(({ state }) => state !== "missing");
  return changes.length === 0 ? undefined : changesInTheWay(place, changes);
}

/**
 * Git's own rules decide: a checked-out branch is fast-forwarded in its worktree, any other is fetched into without
 * force. The result depends only on where the branch is in the end, not on git's messages.
 */
export async function publish(control: ControlGit, order: PublishOrder): Promise<PublishResult> {
  const { repository, branch, commit, expected, signal } = order;
  const place: GitPlace = { folder: checkFolder(repository), configuration: "user" };
  const ref = branchRef(branch);
  checkCommit(commit);
  if (expected !== undefined && !(await isAncestor(control, expected, commit))) {
    throw new Fault("git.diverged", `${commit} does not contain ${expected}, which "${branch}" is at.`, {
      hint: "Merge again, onto the branch's current commit.",
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

/** Undoes what updates of the branch's checkouts have begun. Returns what could not be undone, or an empty text. */
export async function undoUpdate(control: ControlGit, { repository, branch, check }: UndoUpdateOrder): Promise<string> {
  if (!hasUpdateNotes(control)) return "";
  await check?.();
  const place: GitPlace = { folder: checkFolder(repository), configuration: "user" };
  const ref = branchRef(branch);
  const at = await branchAt(control.run, place, ref);
  const left: string[] = [];
  for (const { folder, branch: own, isMissing } of await listWorktrees(control.run, place)) {
    if (isMissing || at === undefined || updateNote(control, folder).cutShort.length === 0) continue;
    const worktree: GitPlace = { folder, configuration: "user" };
    const busy = own === ref ? await busyWith(control, worktree) : undefined;
    if (own !== ref)
      left.push(
        `A merge into "${branch}" was interrupted in ${folder}, where another branch is checked out now. See what is left of it: git -C ${shellWord(folder)} status`,
      );
    else left.push(busy?.text ?? (await takeBack(control, worktree, at)));
  }
  return sentences(left);
}

/** Makes the branch durable: the daemon may have been killed before that, or the user merged it without an fsync. */
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
    `A branch other than "${branch}" was checked out in ${repository} just now.`,
    {
      retry: "later",
      hint: "The daemon tries again. If that branch now has commits of the merge, see where it was before: git reflog",
    },
  );
}

/** Without force: git refuses unless the commit contains the branch's current commit. */
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
      // 1: the branch has moved meanwhile.
      { accepts: [0, 1], protocols: ["file"], isLong: true, writes: true, signal },
    );
    if (code === 0 || /\(non-fast-forward\)/.test(stderr)) return undefined;
    throw gitFault({ command: "fetch", cwd: place.folder, code, stderr, isRemote: false });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (error.code === "git.locked") return waits("locked", `${error.message} ${error.hint}`);
    // The branch was checked out just now, or a rebase is using it.
    if (error.code === "git.checked-out-elsewhere")
      return (await operationUnderWay(control, place)) ?? waits("checked-out", `${error.message} ${error.hint}`);
    throw error;
  }
}

/** A rebase or a bisect uses a branch although its worktree has none checked out, and git's list does not show that. */
async function operationUnderWay(control: ControlGit, place: GitPlace): Promise<Waits | undefined> {
  for (const { folder, branch, isMissing } of await listWorktrees(control.run, place)) {
    if (branch !== undefined || isMissing) continue;
    const busy = await busyWith(control, { folder, configuration: "user" });
    if (busy?.reason === "operation") return busy;
  }
  return undefined;
}

/** The worktrees that have a branch checked out. */
async function holdersOf(control: ControlGit, place: GitPlace, ref: string): Promise<readonly Worktree[]> {
  return (await listWorktrees(control.run, place)).filter((worktree) => worktree.branch === ref);
}

function holdersInTheWay(
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
    const text = `"${branch}" is checked out in ${first.folder}, which does not exist. If it is gone: git worktree prune`;
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

/** Also false if the commit does not exist in the repository; git does not fetch it from a remote. */
async function contains(
  control: ControlGit,
  place: GitPlace,
  tip: string,
  commit: string,
  expected: string | undefined,
): Promise<boolean> {
  if (tip === commit) return true;
  // The commit contains `expected`, so `expected` cannot contain the commit.
  if (tip === expected) return false;
  const env = { GIT_NO_LAZY_FETCH: "1" };
  const ids = [commit, tip];
  const asked = await control.run(place, ["merge-base", "--is-ancestor", "--end-of-options", ...ids], {
    accepts: [0, 1, 128],
    env,
  });
  return asked.code === 0;
}

/** A worktree that has the branch checked out keeps its files and its index: its HEAD is what it was before. */
export async function restoreBranch(control: ControlGit, order: RestoreOrder): Promise<void> {
  const { repository, branch, commit, from, signal } = order;
  const place: GitPlace = { folder: checkFolder(repository), configuration: "user" };
  const ref = branchRef(branch);
  const at = await branchAt(control.run, place, ref);
  if (at === commit || (at !== undefined && from === undefined)) return;
  await giveObjects(control, place, checkCommit(commit), signal);
  if (at !== undefined) await refuseMove(order, at);
  const args = ["update-ref", "--no-deref", "-m", restoredMessage, ref, commit, at ?? noCommit(commit)];
  await control.run(place, args, { writes: true, signal });
  await syncFolderIfThere(dirname(join(await commonFolderOf(control.run, place), ref)));
}

export async function giveCommit(control: ControlGit, { repository, commit, signal }: GiveOrder): Promise<void> {
  await makeLasting(control, { folder: checkFolder(repository), configuration: "user" }, checkCommit(commit), signal);
}

async function refuseMove({ repository, branch, commit, from }: RestoreOrder, at: string): Promise<void> {
  if (at !== from)
    throw new Fault("git.ref-moved", `"${branch}" has moved again, to ${at.slice(0, 10)}, so it is not moved back.`, {
      hint: `See what it has now: git -C ${shellWord(repository)} log ${commit}..${shellWord(branch)}\nGet the earlier commits as a branch of another name: git -C ${shellWord(repository)} branch NAME ${commit}`,
    });
  const folder = await checkoutOf(repository, branch, commit);
  if (folder === undefined) return;
  throw new Fault("git.checked-out-elsewhere", `"${branch}" is checked out in ${folder}, with its present files.`, {
    hint: `Move it there, with its files: git -C ${shellWord(folder)} reset --keep ${commit}`,
  });
}

// These functions read git's files where they can: starting git takes longer, and blocks other work.
