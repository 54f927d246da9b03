import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Fault } from "../../../fault.ts";
import type { Prepared, PrepareOrder } from "../../../ports/workspaces.ts";
import { branchRef, checkCommit } from "../check-names.ts";
import { checkOut } from "./check-out.ts";
import { type Cleared, clearAside, clearLeftovers } from "./clear-aside.ts";
import { entryAt } from "./entry-at.ts";
import { branchElsewhere, branchTaken, dirty, foreign, unsaved } from "./faults.ts";
import { draftIndex, type Files } from "./list-changes.ts";
import { isDirty, lookAt } from "./look-at.ts";
import type { Found, Mechanics, Settled } from "./mechanics.ts";
import { readHead } from "./read-git-folder.ts";
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
    const isReady = await refuseUnsaved(shop, mechanics, { ...order, folder, record, found, commit });
    if (isReady) return { commit, how: "ready" };
    await make(shop, mechanics, { ...order, folder, record, found, commit });
    return { commit, how: found.kind === "ours" && !found.isHalfMade ? "recycled" : "new" };
  });
}

let lastTurn: Promise<unknown> = Promise.resolve();

/** Of many that are asked for at once, each begins in a turn of the event loop of its own: it reads what all others are. */
function turnOfLoop(): Promise<unknown> {
  lastTurn = lastTurn.then(() => setImmediate());
  return lastTurn;
}

interface Preparing extends PrepareOrder {
  readonly record: WorkspaceRecord | undefined;
  readonly found: Exclude<Found, { kind: "foreign" }>;
}

/** What will be checked out: where the branch is, or where it begins. */
async function chooseCommit(mechanics: Mechanics, preparing: Preparing): Promise<string> {
  const { folder, branch, base, existing, record, found } = preparing;
  const elsewhere = await mechanics.useOf(branch, folder, found.folders);
  if (elsewhere !== undefined) throw branchElsewhere(branch, elsewhere);
  // What else a former task has made in its clone is in nobody's way.
  const isSame = record === undefined || record.branch === branch;
  const tip = await mechanics.tipOf(branch, isSame ? found.folders : undefined);
  if (tip !== undefined && tip !== base && !existing && record?.branch !== branch) throw branchTaken(branch);
  return tip ?? base;
}

/** Refuses to go on where something could be lost. True where everything is as it should be already. */
async function refuseUnsaved(
  shop: Workshop,
  mechanics: Mechanics,
  preparing: Preparing & { readonly commit: string },
): Promise<boolean> {
  const { folder, record, found, branch, commit, salvaged } = preparing;
  const head = found.folders && (await readHead(found.folders));
  const isHalfMade = record === undefined ? found.kind === "ours" && found.isHalfMade : record.phase === "making";
  const checkedOut = head?.commit ?? record?.commit;
  if (found.kind === "ours" && !salvaged && !isHalfMade && checkedOut !== undefined) {
    const isTrusted = found.flaw === undefined;
    const { folders } = found;
    const look = await lookAt(shop, mechanics, { folder, folders, isTrusted, record, commit: checkedOut });
    if (isDirty(look)) throw dirty(folder, look);
    const isSame = record?.phase === "ready" && record.branch === branch && head?.branch === branch;
    if (isSame && head.commit === commit && isTrusted) return true;
  }
  if (!(await mechanics.isSaved({ folders: found.folders, head, commit }))) throw unsaved(folder);
  return false;
}

async function make(shop: Workshop, mechanics: Mechanics, preparing: Preparing & { readonly commit: string }) {
  const { folder, record, found, branch, commit, base, baseBranch, keep = [] } = preparing;
  const heap = shop.heap(folder);
  const index = shop.records.indexOf(folder);
  await mechanics.begin({ branch, commit });
  const begun: WorkspaceRecord = { ...record, folder, branch, phase: "making", commit: record?.commit ?? commit };
  await shop.records.write(begun);
  const { folders, hasFiles, known } = await mechanics.settle({ folder, found, record, branch, commit, heap });
  if (!isKnown(begun, known)) await shop.records.write({ ...begun, ...known });
  const files = await mechanics.filesOf(folder, folders);
  if (!hasFiles) await rm(index, { force: true });
  const cleared = hasFiles ? await clear(shop, files, { folder, index, commit, keep, heap }) : undefined;
  // What was not touched is as it was when we looked; so where the commit is the same, only the rest is written.
  const isSame = record?.phase === "ready" && record.commit === commit;
  await checkOut(shop, files, { index, commit, only: isSame ? cleared?.changed : undefined });
  if (cleared !== undefined && cleared.kept.length > 0) await clearLeftovers(shop, files, { folder, index, heap });
  await mechanics.seat({ folder, folders, branch, commit, base, baseBranch, index, heap });
  await shop.records.write({ folder, branch, phase: "ready", commit, ...known });
}

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
