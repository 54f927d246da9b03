import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Fault } from "../../../fault.ts";
import type { Salvage } from "../../../ports/control-repository.ts";
import type { ParkOrder, Prepared, PrepareOrder } from "../../../ports/workspaces.ts";
import { entryAt } from "../file-entries.ts";
import { type GitFolders, readHead, readRef } from "../git-folder.ts";
import { branchRef, checkCommit } from "../names.ts";
import { draftIndex, type Files, isStaged, listChanges } from "./changes.ts";
import { type Cleared, checkOut, clearAside, clearLeftovers, clearSpecial } from "./git-files.ts";
import {
  findWorkingCopy,
  isDirty,
  isParked,
  lookAt,
  movesOf,
  noBranch,
  operationIn,
  refuseBlocked,
} from "./inspect.ts";
import {
  branchElsewhere,
  branchTaken,
  dirty,
  type Found,
  foreign,
  type Mechanics,
  type Settled,
  unsaved,
} from "./mechanics.ts";
import { stuckIn } from "./stuck.ts";
import { type Workshop, type WorkspaceRecord, wholePath } from "./workshop.ts";

/**
 * Brings a branch of a clone, and its copy under `origin/`, to a commit. A branch that the agent has moved, or has
 * checked out, stays. A worktree shares the user's branches, so nothing is done there.
 */
export async function learnBranch(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  branch: string,
  commit: string,
): Promise<void> {
  if (mechanics.kind === "worktree") return;
  const refs = [branchRef(branch), `refs/remotes/origin/${branch}`] as const;
  checkCommit(commit);
  const folder = await wholePath(path);
  await shop.inTurn(folder, async () => {
    const { folders, head } = await findWorkingCopy(shop, mechanics, folder);
    const [own, theirs] = await Promise.all(refs.map((ref) => readRef(folders.commonFolder, ref)));
    const { place, env } = await mechanics.refsOf(folder, folders, refs);
    const move = (ref: string) =>
      shop.git(place, ["update-ref", "--no-deref", "-m", "brought up to date", ref, commit], { env, writes: true });
    await move(refs[1]);
    if (own !== undefined && own === theirs && head.branch !== branch) await move(refs[0]);
  });
}

/**
 * Makes all checks first, then records that the preparation has begun: from then on everything in the folder counts as
 * half-written. So it can be killed at any point and retried.
 */
export async function prepare(shop: Workshop, mechanics: Mechanics, order: PrepareOrder): Promise<Prepared> {
  branchRef(order.branch);
  checkCommit(order.base);
  await mkdir(dirname(order.folder), { recursive: true });
  const folder = await wholePath(order.folder);
  await turnOfLoop();
  return shop.inTurn(folder, async () => {
    const record = await shop.records.read(folder);
    const found = await mechanics.find(folder, record);
    if (found.kind === "foreign") throw foreign(folder, found.reason);
    if (record !== undefined && record.phase !== "ready") await shop.refuseBusy(folder);
    const commit = await chooseCommit(mechanics, { ...order, folder, record, found });
    const seen = await refuseUnsaved(shop, mechanics, { ...order, folder, record, found, commit });
    if (seen === "ready") return { commit, how: "ready" };
    await make(shop, mechanics, { ...order, folder, record, found, commit, isUntouched: seen === "untouched" });
    return { commit, how: found.kind === "ours" && !found.isHalfMade ? "recycled" : "new" };
  });
}

/**
 * Does most of the work of `prepare` in advance, while no task waits for it. Returns false if anything is wrong: that
 * is left to `prepare`. A kill leaves the workspace half-written, as in `prepare`.
 */
export async function park(shop: Workshop, mechanics: Mechanics, order: ParkOrder): Promise<boolean> {
  const folder = await wholePath(order.folder);
  return shop.inTurn(folder, async () => {
    const record = await shop.records.read(folder);
    const found = await mechanics.find(folder, record);
    if (record?.phase !== "ready" || found.kind !== "ours" || found.folders === undefined) return false;
    const { folders, flaw, isLocked } = found;
    if (flaw !== undefined || isLocked) return false;
    const [commit, head] = await Promise.all([mechanics.tipOf(order.at, undefined), readHead(folders)]);
    if (commit === undefined || head === undefined) return false;
    if (!(await mechanics.isSaved({ folders, head, commit }))) return false;
    // Checked as late as possible: a task that gets the workspace from now on waits for this mutex.
    if (!(await order.isFree())) return false;
    const { keep = [], holds = false, at: baseBranch } = order;
    const given = { folder, record, found, keep, holds, baseBranch, commit };
    await make(shop, mechanics, { ...given, branch: undefined, base: commit });
    return true;
  });
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** Spreads simultaneous calls over turns of the event loop: each reads the records of all workspaces. */
function turnOfLoop(): Promise<unknown> {
  lastTurn = lastTurn.then(() => nextTurn());
  return lastTurn;
}

interface Preparing extends PrepareOrder, Given {}

interface Given {
  readonly record: WorkspaceRecord | undefined;
  readonly found: Exclude<Found, { kind: "foreign" }>;
}

interface Making extends Given, Pick<PrepareOrder, "folder" | "base" | "baseBranch" | "keep" | "holds" | "showsAll"> {
  /** Undefined if HEAD will be detached. */
  readonly branch: string | undefined;
  readonly commit: string;
  /** Whether a check has just shown that the folder equals our index, without any other files. */
  readonly isUntouched?: boolean;
}

/** The commit to check out: the branch's tip, or where the branch will start. */
async function chooseCommit(mechanics: Mechanics, preparing: Preparing): Promise<string> {
  const { folder, branch, base, lastAt, existing, isLeft = false, record, found } = preparing;
  const elsewhere = await mechanics.useOf(branch, folder, found.folders);
  if (elsewhere !== undefined) throw branchElsewhere(branch, elsewhere);
  // Branches that a former task left in its clone do not matter.
  const isSame = !isLeft && (record === undefined || record.branch === branch);
  const tip = await mechanics.tipOf(branch, isSame ? found.folders : undefined);
  if (tip !== undefined && tip !== base && !existing && record?.branch !== branch) throw branchTaken(branch);
  // Collected commits of a clone may be in no branch of the user's, or ahead of it.
  return (mechanics.kind === "clone" ? (lastAt ?? tip) : (tip ?? lastAt)) ?? base;
}

/** Throws if something could be lost. Returns `ready` if nothing has to be done. */
async function refuseUnsaved(
  shop: Workshop,
  mechanics: Mechanics,
  preparing: Preparing & { readonly commit: string },
): Promise<"ready" | "untouched" | "saved"> {
  const { folder, record, found, branch, commit, salvaged, isLeft = false } = preparing;
  const head = found.folders && (await readHead(found.folders));
  refuseBlocked(folder, found.folders, head);
  const isHalfMade = record === undefined ? found.kind === "ours" && found.isHalfMade : record.phase === "making";
  const checkedOut = head?.commit ?? record?.commit;
  const isStill = await isParked(record, found.folders, head);
  // A parked workspace that was used since may have commits that no branch reaches.
  if (record?.branch === noBranch && record.phase === "ready" && !isStill && !salvaged) throw unsaved(folder);
  let seen: "untouched" | "saved" = "saved";
  if (found.kind === "ours" && !salvaged && !isHalfMade && checkedOut !== undefined) {
    const isTrusted = found.flaw === undefined;
    const { folders } = found;
    if (isStill && isTrusted && folders && (await isUntouched(shop, mechanics, folder, folders, checkedOut)))
      seen = "untouched";
    else {
      const look = await lookAt(shop, mechanics, { folder, folders, isTrusted, record, commit: checkedOut });
      if (isDirty(look)) throw dirty(folder, look);
      const isSame = !isLeft && record?.phase === "ready" && record.branch === branch && head?.branch === branch;
      if (isSame && head.commit === commit && isTrusted) return "ready";
    }
  }
  const saving = { folders: found.folders, head: isStill ? undefined : head, commit };
  if (!(await mechanics.isSaved(saving))) throw unsaved(folder);
  return seen;
}

/**
 * Whether a parked workspace is unchanged, including ignored files. This takes one listing; if it shows a difference,
 * the caller does the full check.
 */
async function isUntouched(
  shop: Workshop,
  mechanics: Mechanics,
  folder: string,
  folders: GitFolders,
  commit: string,
): Promise<boolean> {
  // The listing does not include files in submodules.
  if (entryAt(join(folder, ".gitmodules")) !== undefined) return false;
  if ((await operationIn(folders.gitFolder)) !== undefined) return false;
  const files = await mechanics.filesOf(folder, folders);
  try {
    const ours = shop.records.indexOf(folder);
    const [{ changed, others }, staged] = await Promise.all([
      listChanges(shop, files, ours, true),
      isStaged(shop, files, { gitFolder: folders.gitFolder, head: commit, ours }),
    ]);
    return changed.length === 0 && others.length === 0 && !staged;
  } catch (error) {
    // A power cut has damaged the index.
    if (!(error instanceof Fault) || error.code !== "git.failed") throw error;
    return false;
  }
}

async function make(shop: Workshop, mechanics: Mechanics, making: Making): Promise<void> {
  try {
    await makeOnce(shop, mechanics, making);
  } catch (error) {
    throw stuckIn(making.folder, error) ?? error;
  }
}

async function makeOnce(shop: Workshop, mechanics: Mechanics, making: Making): Promise<void> {
  const { folder, record, found, branch, commit, base, baseBranch, keep = [], holds = false } = making;
  const { showsAll = false } = making;
  const heap = shop.heap(folder, holds);
  const index = shop.records.indexOf(folder);
  if (branch !== undefined) await mechanics.begin({ branch, commit });
  const about = { folder, branch: branch ?? noBranch };
  const begun: WorkspaceRecord = { ...record, ...about, phase: "making", commit: record?.commit ?? commit };
  await shop.records.write(begun);
  const { folders, hasFiles, known } = await mechanics.settle({ folder, found, record, branch, commit, heap });
  if (!isKnown(begun, known)) await shop.records.write({ ...begun, ...known });
  const files = await mechanics.filesOf(folder, folders);
  if (!hasFiles) await rm(index, { force: true });
  // Git's listing does not show named pipes that were created since.
  if (making.isUntouched) await clearSpecial(folder, keep, heap);
  const clearing = { folder, index, commit, keep, heap };
  const cleared = making.isUntouched ? nothing : hasFiles ? await clear(shop, files, clearing) : undefined;
  // The other files equal the index; if the commit is the same, only the changed ones have to be written.
  const isSame = record?.phase === "ready" && record.commit === commit;
  await checkOut(shop, files, { index, commit, only: isSame ? cleared?.changed : undefined });
  if (cleared !== undefined && cleared.kept.length > 0) await clearLeftovers(shop, files, { folder, index, heap });
  await mechanics.seat({ folder, folders, branch, commit, base, baseBranch, showsAll, index, heap });
  const moves = branch === undefined && folders !== undefined ? { moves: await movesOf(folders) } : {};
  await shop.records.write({ ...about, phase: "ready", commit, ...known, ...moves });
}

const nothing: Cleared = { changed: [], kept: [] };

function isKnown(record: WorkspaceRecord, known: Settled["known"]): boolean {
  return isDeepStrictEqual({ ...record, ...known }, record);
}

async function clear(
  shop: Workshop,
  files: Files,
  { commit, ...order }: Parameters<typeof clearAside>[2] & { readonly commit: string },
): Promise<Cleared> {
  const { index } = order;
  if (entryAt(index) !== undefined) {
    try {
      return await clearAside(shop, files, order);
    } catch (error) {
      // A power cut has damaged the index.
      if (!(error instanceof Fault) || error.code !== "git.failed") throw error;
    }
  }
  // Without an index every file is read, and only files that equal the new commit stay.
  await rm(index, { force: true });
  await draftIndex(shop, files, { own: undefined, draft: index, commit });
  return clearAside(shop, files, order);
}

/** Removes the folder first, then git's record of it: killed in between, the next call does the rest. */
export async function remove(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  salvage: Salvage | undefined,
): Promise<void> {
  const folder = await wholePath(path);
  await shop.inTurn(folder, async () => {
    const record = await shop.records.read(folder);
    const found = await mechanics.find(folder, record);
    if (found.kind === "foreign") throw foreign(folder, found.reason);
    if (found.kind === "ours" && found.isLocked) throw locked(folder);
    const { folders } = found;
    const head = folders && (await readHead(folders));
    refuseBlocked(folder, folders, head);
    if (salvage !== undefined) await checkSalvage(shop, salvage);
    const isHalfMade = record === undefined ? found.kind === "ours" && found.isHalfMade : record.phase === "making";
    const commit = head?.commit ?? record?.commit;
    if (found.kind === "ours" && salvage?.saved === undefined && !isHalfMade && commit !== undefined) {
      const isTrusted = found.flaw === undefined;
      const look = await lookAt(shop, mechanics, { folder, folders, isTrusted, record, commit });
      // The salvage has saved untracked files; those that it skipped stay in the trash long enough.
      const others = salvage === undefined ? look.others : [];
      if (isDirty({ ...look, others, operation: undefined })) throw dirty(folder, look);
    }
    if (!(await mechanics.isSaved({ folders, head, commit: undefined }))) throw unsaved(folder);
    const heap = shop.heap(folder, (salvage?.refused.length ?? 0) > 0);
    await heap.take(folder, "workspace");
    await mechanics.forget(folder, record, heap);
    await shop.records.forget(folder);
  });
}

async function checkSalvage({ options }: Workshop, { saved }: Salvage): Promise<void> {
  if (saved === undefined || (await readRef(options.control, saved.ref)) === saved.commit) return;
  throw new Fault("workspace.unsaved", `${saved.ref} is no longer at ${saved.commit}, so nothing was removed.`, {
    hint: "Salvage the workspace again.",
  });
}

function locked(folder: string): Fault {
  return new Fault("workspace.locked", `The worktree ${folder} is locked.`, {
    hint: `Unlock it: git worktree unlock "${folder}"`,
  });
}
