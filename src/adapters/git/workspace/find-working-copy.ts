import { notThere } from "./faults.ts";
import type { Mechanics } from "./mechanics.ts";
import { type GitFolders, type Head, readHead } from "./read-git-folder.ts";
import type { WorkspaceRecord } from "./records.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/** A workspace that is whole. */
export interface WorkingCopy {
  readonly folder: string;
  readonly folders: GitFolders;
  readonly record: WorkspaceRecord | undefined;
  readonly head: Head;
}

/** Refused with `workspace.missing` where there is none, or where something is wrong with it. */
export async function findWorkingCopy(shop: Workshop, mechanics: Mechanics, path: string): Promise<WorkingCopy> {
  const folder = await wholePath(path);
  const record = await shop.records.read(folder);
  const found = await mechanics.find(folder, record);
  if (found.kind !== "ours" || found.folders === undefined || found.flaw !== undefined) throw notThere(folder);
  const head = await readHead(found.folders);
  if (head === undefined) throw notThere(folder);
  return { folder, folders: found.folders, record, head };
}
