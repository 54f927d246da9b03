import { hash } from "node:crypto";
import { join } from "node:path";
import { type GitFolders, type Head, readFileAt } from "./read-git-folder.ts";
import type { WorkspaceRecord } from "./records.ts";

/** The branch of a workspace that was parked. */
export const noBranch = "";

/**
 * Whether a workspace was parked, and nobody has checked out or committed anything there since. Also who went back to
 * where it was has left commits that only git's own notes lead to.
 */
export async function isParked(
  record: WorkspaceRecord | undefined,
  folders: GitFolders | undefined,
  head: Head | undefined,
): Promise<boolean> {
  if (record?.phase !== "ready" || record.branch !== noBranch || folders === undefined) return false;
  if (head?.branch !== undefined || head?.commit !== record.commit) return false;
  return (await movesOf(folders)) === record.moves;
}

/** Stands for what git has noted of HEAD's moves. */
export async function movesOf({ gitFolder }: GitFolders): Promise<string> {
  const bytes = await readFileAt(join(gitFolder, "logs", "HEAD"), mostNotes);
  return typeof bytes === "string" ? bytes : hash("sha256", bytes);
}

const mostNotes = 64 * 1024 * 1024;
