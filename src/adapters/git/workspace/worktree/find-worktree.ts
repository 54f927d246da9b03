import { join, resolve } from "node:path";
import { entryAt, namesIn } from "../entry-at.ts";
import type { Found } from "../mechanics.ts";
import { readSmall } from "../read-git-folder.ts";
import type { WorkspaceRecord } from "../records.ts";
import type { UserRepository } from "../user-repository.ts";
import { findEntry, readEntry, type WorktreeEntry } from "./find-entry.ts";

/** Files of a worktree's own that git obeys, where the repository has asked for such. */
export const obeyedFiles = ["config.worktree", "info/sparse-checkout"];

export async function findWorktree(
  { commonFolder }: UserRepository,
  folder: string,
  record: WorkspaceRecord | undefined,
): Promise<Found> {
  const found = await entryAt(folder);
  if (found !== undefined && !found.isDirectory()) return { kind: "foreign", reason: "It is no folder." };
  const entry = await findEntry(commonFolder, folder, record?.entry);
  const folders = entry && { gitFolder: entry.path, commonFolder };
  if (found === undefined) return { kind: "nothing", folders };
  const [, named] = /^gitdir: ([\s\S]+?)\n*$/.exec((await readSmall(join(folder, ".git"))) ?? "") ?? [];
  const leads = named && resolve(folder, named);
  if (entry !== undefined) {
    const flaw = await flawOf(entry, record, leads === entry.path);
    const isHalfMade = entry.lock === "initializing";
    return { kind: "ours", folders, flaw, isLocked: entry.lock !== undefined && !isHalfMade, isHalfMade };
  }
  if ((await namesIn(folder)).length === 0) return { kind: "nothing", folders };
  const moved = await movedEntry(commonFolder, leads);
  if (moved !== undefined) {
    const gitFolder = moved.path;
    const flaw = `It was moved here from ${moved.folder}.`;
    return { kind: "ours", folders: { gitFolder, commonFolder }, flaw, isLocked: false, isHalfMade: false };
  }
  if (record === undefined) return { kind: "foreign", reason: "It is no worktree of this repository." };
  const flaw = "The repository does not know this worktree.";
  return { kind: "ours", folders, flaw, isLocked: false, isHalfMade: false };
}

async function flawOf(
  entry: WorktreeEntry,
  record: WorkspaceRecord | undefined,
  isConnected: boolean,
): Promise<string | undefined> {
  if (entry.lock === "initializing") return "Its making was not ended.";
  if (!isConnected) return "Its file .git does not lead to the repository.";
  if ((await readSmall(join(entry.path, "commondir")))?.trim() !== "../..") return "It leads to another repository.";
  for (const name of record?.obeyed === undefined ? [] : obeyedFiles) {
    if ((await readSmall(join(entry.path, name))) !== record?.obeyed?.[name]) return `Its file ${name} was changed.`;
  }
  return undefined;
}

/** The entry that a folder belongs to, if what the entry knows is gone. With both there, one is a copy. */
async function movedEntry(commonFolder: string, leads: string | undefined): Promise<WorktreeEntry | undefined> {
  const entries = join(commonFolder, "worktrees");
  const name = (await namesIn(entries)).find((each) => join(entries, each) === leads);
  const entry = name === undefined ? undefined : await readEntry(commonFolder, name);
  return entry === undefined || (await entryAt(entry.folder)) !== undefined ? undefined : entry;
}
