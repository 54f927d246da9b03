import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Fault } from "../../../fault.ts";
import type { ParkOrder, Prepared, PrepareOrder } from "../../../ports/workspaces.ts";
import { branchRef, checkCommit } from "../check-names.ts";
import { checkOut } from "./check-out.ts";
import { type Cleared, clearAside, clearLeftovers, clearSpecial } from "./clear-aside.ts";
import { entryAt } from "./entry-at.ts";
import { branchElsewhere, branchTaken, dirty, foreign, unsaved } from "./faults.ts";
import { draftIndex, type Files, isStaged, listChanges } from "./list-changes.ts";
import { isDirty, lookAt, operationIn } from "./look-at.ts";
import type { Found, Mechanics, Settled } from "./mechanics.ts";
import { isParked, movesOf, noBranch } from "./parked.ts";
import { type GitFolders, readHead } from "./read-git-folder.ts";
import type { WorkspaceRecord } from "./records.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/**
 * First everything that may refuse, then a note that the making has begun; from then on whatever is found in the folder
 * is half of it. So it can be killed anywhere, and done again.
 */
export async function prepare(shop: Workshop, mechanics: Mechanics, order: PrepareOrder): Promise<Prepared> {
  branchRef(order.branch);
  checkCommit(order.base);
  await mkdir(dirname(order.folder), { recursive: true });
  const folder = await wholePath(order.folder);
  await turnOfLoop();
  return shop.turns.take(folder, async () => {
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
 * Does beforehand most of what `prepare` does, while nobody waits for it. Only where nothing is wrong: everything else is
 * for whoever needs the workspace. Killed in the middle, it is half made.
 */
export async function park(shop: Workshop, mechanics: Mechanics, order: ParkOrder): Promise<boolean> {
  const folder = await wholePath(order.folder);
  return shop.turns.take(folder, async () => {
    const record = await shop.records.read(folder);
    const found = await mechanics.find(folder, record);
    if (record?.phase !== "ready" || found.kind !== "ours" || found.folders === undefined) return false;
    const { folders, flaw, isLocked } = found;
    if (flaw !== undefined || isLocked) return false;
    const [commit, head] = await Promise.all([mechanics.tipOf(order.at, undefined), readHead(folders)]);
    if (commit === undefined || head === undefined) return false;
    if (!(await mechanics.isSaved({ folders, head, commit }))) return false;
    // As late as possible: whoever gets it from now on waits for this turn.
    if (!(await order.isFree())) return false;
    const { keep = [], holds = false, at: baseBranch } = order;
    const given = { folder, record, found, keep, holds, baseBranch, commit };
    await make(shop, mechanics, { ...given, branch: undefined, base: commit });
    return true;
  });
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** Of many that are asked for at once, each begins in a turn of the event loop of its own: it reads what all others are. */
function turnOfLoop(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

interface Preparing extends PrepareOrder, Given {}

interface Given {
  readonly record: WorkspaceRecord | undefined;
  readonly found: Exclude<Found, { kind: "foreign" }>;
}

interface Making extends Given, Pick<PrepareOrder, "folder" | "base" | "baseBranch" | "keep" | "holds"> {
  /** Undefined where none is checked out. */
  readonly branch: string | undefined;
  readonly commit: string;
  /** Whether everything was just seen to be as our index has it, and nothing else to be there. */
  readonly isUntouched?: boolean;
}

/** What will be checked out: where the branch is, or where it begins. */
async function chooseCommit(mechanics: Mechanics, preparing: Preparing): Promise<string> {
  const { folder, branch, base, lastAt, existing, record, found } = preparing;
  const elsewhere = await mechanics.useOf(branch, folder, found.folders);
  if (elsewhere !== undefined) throw branchElsewhere(branch, elsewhere);
  // What else a former task has made in its clone is in nobody's way.
  const isSame = record === undefined || record.branch === branch;
  const tip = await mechanics.tipOf(branch, isSame ? found.folders : undefined);
  if (tip !== undefined && tip !== base && !existing && record?.branch !== branch) throw branchTaken(branch);
  return tip ?? lastAt ?? base;
}

/** Refuses to go on where something could be lost. `ready` where everything is as it should be already. */
async function refuseUnsaved(
  shop: Workshop,
  mechanics: Mechanics,
  preparing: Preparing & { readonly commit: string },
): Promise<"ready" | "untouched" | "saved"> {
  const { folder, record, found, branch, commit, salvaged } = preparing;
  const head = found.folders && (await readHead(found.folders));
  const isHalfMade = record === undefined ? found.kind === "ours" && found.isHalfMade : record.phase === "making";
  const checkedOut = head?.commit ?? record?.commit;
  const isStill = await isParked(record, found.folders, head);
  // There may be commits that no branch leads to.
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
      const isSame = record?.phase === "ready" && record.branch === branch && head?.branch === branch;
      if (isSame && head.commit === commit && isTrusted) return "ready";
    }
  }
  const saving = { folders: found.folders, head: isStill ? undefined : head, commit };
  if (!(await mechanics.isSaved(saving))) throw unsaved(folder);
  return seen;
}

/**
 * Whether a parked workspace is as we left it, down to what git ignores. One look is enough for that; where there is more
 * to see, everything is looked at as usual.
 */
async function isUntouched(
  shop: Workshop,
  mechanics: Mechanics,
  folder: string,
  folders: GitFolders,
  commit: string,
): Promise<boolean> {
  // What lies in submodules is listed by nobody.
  if ((await entryAt(join(folder, ".gitmodules"))) !== undefined) return false;
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
    // The index did not outlive a power cut.
    if (!(error instanceof Fault) || error.code !== "git.failed") throw error;
    return false;
  }
}

async function make(shop: Workshop, mechanics: Mechanics, making: Making): Promise<void> {
  const { folder, record, found, branch, commit, base, baseBranch, keep = [], holds = false } = making;
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
  // Nobody sees by git's listing that somebody left a named pipe in there since.
  if (making.isUntouched) await clearSpecial(folder, keep, heap);
  const clearing = { folder, index, commit, keep, heap };
  const cleared = making.isUntouched ? nothing : hasFiles ? await clear(shop, files, clearing) : undefined;
  // What was not touched is as it was when we looked; so where the commit is the same, only the rest is written.
  const isSame = record?.phase === "ready" && record.commit === commit;
  await checkOut(shop, files, { index, commit, only: isSame ? cleared?.changed : undefined });
  if (cleared !== undefined && cleared.kept.length > 0) await clearLeftovers(shop, files, { folder, index, heap });
  await mechanics.seat({ folder, folders, branch, commit, base, baseBranch, index, heap });
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
  if ((await entryAt(index)) !== undefined) {
    try {
      return await clearAside(shop, files, order);
    } catch (error) {
      // It did not outlive a power cut.
      if (!(error instanceof Fault) || error.code !== "git.failed") throw error;
    }
  }
  // Without one every file is read, and only those stay that are as they will be.
  await rm(index, { force: true });
  await draftIndex(shop, files, { own: undefined, draft: index, commit });
  return clearAside(shop, files, order);
}
