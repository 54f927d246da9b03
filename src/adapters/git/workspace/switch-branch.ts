import { rename } from "node:fs/promises";
import { branchRef, noCommit } from "../check-names.ts";
import { splitNul } from "../file-name.ts";
import { checkOut, installIndex } from "./check-out.ts";
import { takeAll } from "./clear-aside.ts";
import { entryAt, isFolder, pathIn } from "./entry-at.ts";
import { branchElsewhere, dirty, inTheWay, noBranch, notThere } from "./faults.ts";
import { findWorkingCopy, type WorkingCopy } from "./find-working-copy.ts";
import { draftIndex, type Files, listChanges, lostIsFine } from "./list-changes.ts";
import { lookAt } from "./look-at.ts";
import type { Mechanics } from "./mechanics.ts";
import { readRef } from "./read-git-folder.ts";
import { realFolders } from "./real-folders.ts";
import type { WorkspaceRecord } from "./records.ts";
import { type Workshop, wholePath } from "./workshop.ts";
import { onBranch, writeHead } from "./write-head.ts";

export async function switchBranch(shop: Workshop, mechanics: Mechanics, path: string, to: string): Promise<void> {
  branchRef(to);
  const folder = await wholePath(path);
  await shop.turns.take(folder, async () => {
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
      // Whoever began this had looked; what is in the way now is half of it, or has come since.
      const { changed } = await listChanges(shop, files, index, false);
      const added = await newFiles(shop, files, record.commit, tip);
      await takeAll([...changed, ...added], { folder, heap: shop.heap(folder) });
      await checkOut(shop, { ...files, env: { ...files.env, ...files.ownObjects } }, { index, commit: tip });
    } else await go(shop, mechanics, { ...copy, record, files, index, tip, to });
    await seat(shop, mechanics, copy, { to, tip, index });
    await shop.records.write({ ...record, branch: to, phase: "ready", commit: tip });
  });
}

export interface Going extends WorkingCopy {
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

/** Looks whether the files can follow, and notes that they are going to. Gives the commit that they are at. */
export async function setOut(shop: Workshop, mechanics: Mechanics, going: Going): Promise<string> {
  const { folder, folders, head, record, files, index, tip, to } = going;
  if (head.commit === undefined) throw notThere(folder);
  const from = head.commit;
  const look = await lookAt(shop, mechanics, { folder, folders, isTrusted: true, record, commit: from });
  if (look.changed.length > 0 || look.isStaged || look.operation !== undefined)
    throw dirty(folder, { ...look, others: [] });
  const blocking: Buffer[] = [];
  for (const path of await newFiles(shop, files, from, tip)) if (await isBlocked(folder, path)) blocking.push(path);
  if (blocking.length > 0) throw inTheWay(folder, blocking);
  const draft = await shop.records.draft();
  await draftIndex(shop, files, { own: index, draft, commit: from });
  // What was committed since we last looked is as it should be, but the index has not seen it yet.
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

export async function readTree(shop: Workshop, { files, index, tip }: Going, from: string): Promise<void> {
  await shop.git(files.place, ["read-tree", "-m", "-u", from, tip], {
    env: { ...files.env, ...files.ownObjects, GIT_INDEX_FILE: index },
    settings: [...files.settings, lostIsFine],
    writes: true,
    isLong: true,
  });
}

export async function seat(
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

/** Files that one commit has and another has not. */
async function newFiles({ git }: Workshop, files: Files, from: string, to: string): Promise<readonly Buffer[]> {
  const { stdout } = await git(
    files.place,
    ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--name-only", "--diff-filter=A", from, to],
    { env: { ...files.env, ...files.ownObjects }, settings: files.settings, isLong: true },
  );
  return splitNul(stdout);
}

/** Whether something is where a new file would be, or where a folder above it would be. */
async function isBlocked(folder: string, path: Buffer): Promise<boolean> {
  const found = await entryAt(pathIn(folder, path));
  if (found !== undefined) return true;
  const slash = path.lastIndexOf("/");
  if (slash === -1) return false;
  const above = path.subarray(0, slash);
  return (await isFolder(pathIn(folder, above))) ? !(await realFolders(folder)(path)) : isBlocked(folder, above);
}
