import { branchRef, noCommit } from "../check-names.ts";
import { branchTaken, detached } from "./faults.ts";
import { findWorkingCopy, type WorkingCopy } from "./find-working-copy.ts";
import type { Mechanics } from "./mechanics.ts";
import { readRef } from "./read-git-folder.ts";
import { type Workshop, wholePath } from "./workshop.ts";
import { onBranch, writeHead } from "./write-head.ts";

/**
 * Git's own `branch -m` deletes the old name before it writes the new one; killed in between, the branch is lost. Here a
 * name always stands for the commit.
 */
export async function renameBranch(shop: Workshop, mechanics: Mechanics, path: string, to: string): Promise<void> {
  branchRef(to);
  const folder = await wholePath(path);
  await shop.turns.take(folder, async () => {
    const record = await shop.records.read(folder);
    // One that was begun is ended first.
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
  // One name below the other cannot be while the other is: a third one stands for the commit meanwhile.
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
