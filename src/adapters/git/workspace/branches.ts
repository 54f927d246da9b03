import { rename } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { DeletedBranch } from "../../../ports/workspaces.ts";
import { readHead, readRef, readSmall } from "../git-folder.ts";
import { branchRef, checkCommit, noCommit } from "../names.ts";
import { obstaclesTo, removedBy, statusFlags, type TreeChange, treeChanges } from "../obstacles.ts";
import { draftIndex, type Files, listChanges, lostIsFine } from "./changes.ts";
import { checkOut, installIndex, onBranch, takeAll, writeHead } from "./git-files.ts";
import { branchUse, currentBranch, findWorkingCopy, lookAt, type WorkingCopy } from "./inspect.ts";
import {
  branchElsewhere,
  branchTaken,
  detached,
  dirty,
  inTheWay,
  type Mechanics,
  noBranch,
  notThere,
} from "./mechanics.ts";
import { type Workshop, type WorkspaceRecord, wholePath } from "./workshop.ts";

export async function deleteBranch(
  shop: Workshop,
  mechanics: Mechanics,
  branch: string,
  commit: string,
): Promise<DeletedBranch> {
  const ref = branchRef(branch);
  checkCommit(commit);
  if (mechanics.kind === "clone") return { kind: "gone" };
  const user = await shop.user();
  const at = await readRef(user.commonFolder, ref);
  if (at === undefined) return { kind: "gone" };
  if (at !== commit) throw moved(branch, at);
  await letGo(shop, mechanics, branch);
  const folder = await branchUse(user, branch, undefined);
  if (folder !== undefined) return { kind: "checked-out", folder };
  const place = { folder: user.folder, gitDir: user.commonFolder, configuration: "user" } as const;
  await shop.git(place, ["update-ref", "--no-deref", "-d", ref, commit], { writes: true });
  return { kind: "deleted" };
}

/**
 * Detaches HEAD in released workspaces, which still have the branch of their last task; their files stay. If the folder
 * was deleted, git's record goes to the trash, unless it is locked: then the folder may be on a disk that is unmounted.
 */
async function letGo(shop: Workshop, mechanics: Mechanics, branch: string): Promise<void> {
  for (const record of await shop.records.all()) {
    await shop.inTurn(record.folder, async () => {
      const found = await mechanics.find(record.folder, record);
      const { folders } = found.kind === "foreign" ? { folders: undefined } : found;
      if (folders === undefined || (found.kind === "ours" && found.isLocked)) return;
      const head = await readHead(folders);
      if (head?.branch !== branch || head.commit === undefined) return;
      if (found.kind === "nothing") {
        if ((await readSmall(join(folders.gitFolder, "locked"))) !== undefined) return;
        return mechanics.forget(record.folder, record, shop.heap(record.folder, false));
      }
      await writeHead(folders.gitFolder, `${head.commit}\n`, [record.folder]);
    });
  }
}

function moved(branch: string, to: string): Fault {
  return new Fault("git.ref-moved", `The branch ${JSON.stringify(branch)} is at ${to} now, so it was not deleted.`, {
    retry: "later",
    hint: `See the new commits: git log -3 ${branch}`,
  });
}

/** Moves the branch first, then its files: after an interruption `switchBranch` brings the files to the branch. */
export async function forwardBranch(shop: Workshop, mechanics: Mechanics, path: string, commit: string): Promise<void> {
  checkCommit(commit);
  const folder = await wholePath(path);
  const branch = await currentBranch(shop, mechanics, folder);
  if (branch === undefined)
    throw new Fault("workspace.detached", `${folder} has no branch checked out, so there is no branch to move.`, {
      hint: "Check out the branch there.",
    });
  // Finish an interrupted switch first.
  await switchBranch(shop, mechanics, folder, branch);
  await shop.inTurn(folder, async () => {
    const copy = await findWorkingCopy(shop, mechanics, folder);
    const { folders, head, record } = copy;
    if (record?.phase !== "ready" || head.branch !== branch || head.commit === undefined) throw notThere(folder);
    if (head.commit === commit) return;
    const files = await mechanics.filesOf(folder, folders);
    const index = shop.records.indexOf(folder);
    const going = { ...copy, record, files, index, tip: commit, to: branch };
    const from = await setOut(shop, mechanics, going);
    const { place, env } = await mechanics.refsOf(folder, folders, [branchRef(branch)]);
    const moved = ["update-ref", "--no-deref", "-m", "brought up to date", branchRef(branch), commit, from];
    await shop.git(place, moved, { env, writes: true });
    await readTree(shop, going, from);
    await seat(shop, mechanics, copy, { to: branch, tip: commit, index });
    await shop.records.write({ ...record, branch, phase: "ready", commit });
  });
}

/**
 * `git branch -m` deletes the old name before it writes the new one; killed in between, the branch is lost. Here the
 * commit has a ref at every moment.
 */
export async function renameBranch(shop: Workshop, mechanics: Mechanics, path: string, to: string): Promise<void> {
  branchRef(to);
  const folder = await wholePath(path);
  await shop.inTurn(folder, async () => {
    const record = await shop.records.read(folder);
    // Finish an interrupted rename first.
    if (record?.renamedFrom !== undefined && record.branch !== to) {
      await renameTo(shop, mechanics, folder, record.branch);
    }
    await renameTo(shop, mechanics, folder, to);
  });
}

async function renameTo(shop: Workshop, mechanics: Mechanics, folder: string, to: string): Promise<void> {
  const copy = await findWorkingCopy(shop, mechanics, folder);
  const { record, head, folders } = copy;
  const from = record?.renamedFrom ?? head.branch;
  if (from === to) return;
  if (from === undefined) throw detached(folder, "rename");
  const isBegun = record?.renamedFrom !== undefined;
  const there = await mechanics.tipOf(to, folders);
  const bridge = await readRef(folders.commonFolder, bridgeRef(from));
  const tip = (await readRef(folders.commonFolder, branchRef(from))) ?? bridge ?? (isBegun ? there : undefined);
  if (tip === undefined) throw detached(folder, "rename");
  if (there !== undefined && !(isBegun && there === tip)) throw branchTaken(to);
  if (record !== undefined) await shop.records.write({ ...record, branch: to, renamedFrom: from });
  await move(shop, mechanics, copy, { from, to, tip });
  if (record === undefined) return;
  const { renamedFrom: _, ...known } = record;
  await shop.records.write({ ...known, branch: to });
}

interface Renaming {
  readonly from: string;
  readonly to: string;
  readonly tip: string;
}

async function move(
  { git }: Workshop,
  mechanics: Mechanics,
  { folder, folders }: WorkingCopy,
  { from, to, tip }: Renaming,
): Promise<void> {
  const refs = [branchRef(from), branchRef(to), bridgeRef(from)];
  const { place, env } = await mechanics.refsOf(folder, folders, refs);
  const update = (...args: readonly string[]) =>
    git(place, ["update-ref", "--no-deref", "-m", `renamed from ${from}`, ...args], { env, writes: true });
  const at = (ref: string) => readRef(folders.commonFolder, ref);
  const drop = async (ref: string) => {
    if ((await at(ref)) === tip) await update("-d", ref, tip);
  };
  const none = noCommit(tip);
  // A ref cannot exist below the name of another ref: a third ref holds the commit meanwhile.
  const needsBridge = `${to}/`.startsWith(`${from}/`) || `${from}/`.startsWith(`${to}/`);
  if (needsBridge) {
    if ((await at(bridgeRef(from))) !== tip) await update(bridgeRef(from), tip);
    await drop(branchRef(from));
  }
  if ((await at(branchRef(to))) !== tip) await update(branchRef(to), tip, none);
  await writeHead(folders.gitFolder, onBranch(to), [folder]);
  await drop(needsBridge ? bridgeRef(from) : branchRef(from));
}

function bridgeRef(from: string): string {
  return `refs/signalbox/renamed/${from}`;
}

export async function switchBranch(shop: Workshop, mechanics: Mechanics, path: string, to: string): Promise<void> {
  branchRef(to);
  const folder = await wholePath(path);
  await shop.inTurn(folder, async () => {
    const copy = await findWorkingCopy(shop, mechanics, folder);
    const { folders, head, record } = copy;
    const isBegun = record?.phase === "switching" && record.branch === to;
    if (head.branch === to && !isBegun) return;
    if (record?.phase !== "ready" && !isBegun) throw notThere(folder);
    const elsewhere = await mechanics.useOf(to, folder, folders);
    if (elsewhere !== undefined) throw branchElsewhere(to, elsewhere);
    const tip = await mechanics.tipOf(to, folders);
    if (tip === undefined) throw noBranch(to);
    const files = await mechanics.filesOf(folder, folders);
    const index = shop.records.indexOf(folder);
    if (isBegun) {
      await shop.refuseBusy(folder);
      // The interrupted switch had checked for changes; what differs now was written by it, or came later.
      const { changed } = await listChanges(shop, files, index, false);
      const added = addedBy(await changesBetween(shop, files, record.commit, tip));
      await takeAll([...changed, ...added], { folder, heap: shop.heap(folder) });
      await checkOut(shop, { ...files, env: { ...files.env, ...files.ownObjects } }, { index, commit: tip });
    } else await go(shop, mechanics, { ...copy, record, files, index, tip, to });
    await seat(shop, mechanics, copy, { to, tip, index });
    await shop.records.write({ ...record, branch: to, phase: "ready", commit: tip });
  });
}

interface Going extends WorkingCopy {
  readonly record: WorkspaceRecord;
  readonly files: Files;
  readonly index: string;
  readonly tip: string;
  readonly to: string;
}

async function go(shop: Workshop, mechanics: Mechanics, going: Going): Promise<void> {
  const from = await setOut(shop, mechanics, going);
  await readTree(shop, going, from);
}

/** Checks that the files can follow, and records that the switch has begun. Returns the commit that they are at. */
async function setOut(shop: Workshop, mechanics: Mechanics, going: Going): Promise<string> {
  const { folder, folders, head, record, files, index, tip, to } = going;
  if (head.commit === undefined) throw notThere(folder);
  const from = head.commit;
  const look = await lookAt(shop, mechanics, { folder, folders, isTrusted: true, record, commit: from });
  if (look.changed.length > 0 || look.isStaged || look.operation !== undefined)
    throw dirty(folder, { ...look, others: [] });
  const changes = await changesBetween(shop, files, from, tip);
  const removed = removedBy(changes);
  const blocking = addedBy(changes).flatMap((path) => obstaclesTo(folder, path, removed));
  if (blocking.length > 0) throw inTheWay(folder, blocking);
  const draft = await shop.records.draft();
  await draftIndex(shop, files, { own: index, draft, commit: from });
  // Files that were committed since the last check are unchanged, but our index has not recorded their times yet.
  await shop.git(files.place, ["update-index", "-q", "--refresh"], {
    accepts: [0, 1],
    env: { ...files.env, ...files.ownObjects, GIT_INDEX_FILE: draft },
    settings: [...files.settings, lostIsFine],
    writes: true,
    isLong: true,
  });
  await rename(draft, index);
  await shop.records.write({ ...record, branch: to, phase: "switching", commit: from });
  return from;
}

async function readTree(shop: Workshop, { files, index, tip }: Going, from: string): Promise<void> {
  await shop.git(files.place, ["read-tree", "-m", "-u", from, tip], {
    env: { ...files.env, ...files.ownObjects, GIT_INDEX_FILE: index },
    settings: [...files.settings, lostIsFine],
    writes: true,
    isLong: true,
  });
}

async function seat(
  { git }: Workshop,
  mechanics: Mechanics,
  { folder, folders }: WorkingCopy,
  { to, tip, index }: { readonly to: string; readonly tip: string; readonly index: string },
): Promise<void> {
  const { place, env } = await mechanics.refsOf(folder, folders, [branchRef(to)]);
  if ((await readRef(folders.commonFolder, branchRef(to))) === undefined) {
    const created = ["update-ref", "--no-deref", "-m", "switched", branchRef(to), tip, noCommit(tip)];
    await git(place, created, { env, writes: true });
  }
  await writeHead(folders.gitFolder, onBranch(to), [folder]);
  await installIndex(index, folders.gitFolder, [folder]);
}

async function changesBetween(
  { git }: Workshop,
  files: Files,
  from: string,
  to: string,
): Promise<readonly TreeChange[]> {
  const { stdout } = await git(files.place, ["diff-tree", ...statusFlags, from, to], {
    env: { ...files.env, ...files.ownObjects },
    settings: files.settings,
    isLong: true,
  });
  return treeChanges(stdout);
}

function addedBy(changes: readonly TreeChange[]): readonly Buffer[] {
  return changes.filter(({ kind }) => kind === "added").map(({ path }) => path);
}
