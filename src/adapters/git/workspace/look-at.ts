import { join } from "node:path";
import type { Operation } from "../../../ports/workspaces.ts";
import { operations } from "../operations.ts";
import { entryAt } from "./entry-at.ts";
import { type Changes, isStaged, listChanges, withIndexAt } from "./list-changes.ts";
import type { Mechanics } from "./mechanics.ts";
import type { GitFolders } from "./read-git-folder.ts";
import type { WorkspaceRecord } from "./records.ts";
import type { Workshop } from "./workshop.ts";

export interface Look extends Changes {
  readonly isStaged: boolean;
  readonly operation: Operation | undefined;
}

/** What is uncommitted in a workspace. `commit` is what is checked out there. */
export async function lookAt(
  shop: Workshop,
  mechanics: Mechanics,
  subject: {
    readonly folder: string;
    readonly folders: GitFolders | undefined;
    /** Whether what stands there for git to obey is as we left it. */
    readonly isTrusted: boolean;
    readonly record: WorkspaceRecord | undefined;
    readonly commit: string;
  },
): Promise<Look> {
  const { folder, folders, isTrusted, commit } = subject;
  const files = await mechanics.filesOf(folder, isTrusted ? folders : undefined);
  const gitFolder = folders?.gitFolder;
  const look = (ours: string) =>
    Promise.all([
      listChanges(shop, files, ours, false),
      gitFolder === undefined ? false : isStaged(shop, files, { gitFolder, head: commit, ours }),
      gitFolder && operationIn(gitFolder),
    ]);
  const [changes, staged, operation] = await withIndexAt(shop, files, subject, look);
  return { ...changes, isStaged: staged, operation: operation || undefined };
}

export function isDirty({ changed, others, isStaged, operation }: Look): boolean {
  return changed.length > 0 || others.length > 0 || isStaged || operation !== undefined;
}

/** Something that was begun and not ended. */
export async function operationIn(gitFolder: string): Promise<Operation | undefined> {
  for (const [file, operation] of operations) {
    if ((await entryAt(join(gitFolder, file))) !== undefined) return operation;
  }
  return undefined;
}
