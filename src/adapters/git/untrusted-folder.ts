import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { type GitFolders, gitFoldersOf } from "../../git-folder.ts";
import { targetAt } from "./file-entries.ts";
import { findEntry, findUserRepository } from "./git-folder.ts";
import type { RunGit } from "./runner.ts";

/** The folders of a workspace. They are found by reading files, so that no git has to run there. */
export interface Workspace {
  readonly folder: string;
  readonly gitFolder: string;
  /** The git folder that all worktrees of a repository share; the same as `gitFolder` in a clone. */
  readonly commonFolder: string;
  readonly isLinked: boolean;
  /** The path to fetch its commits from; undefined if the repository is gone and only files are left. */
  readonly source: string | undefined;
  /** Whether the folder itself exists. */
  readonly hasFiles: boolean;
}

/**
 * Finds the workspace in a folder. If the folder is gone, or no longer leads to a repository, it looks among the
 * worktrees of `repository`.
 */
export async function findWorkspace(
  run: RunGit,
  folder: string,
  repository: string | undefined,
): Promise<Workspace | undefined> {
  const hasFiles = targetAt(folder)?.isDirectory() ?? false;
  const led = hasFiles ? whereItLeads(folder) : undefined;
  if (led !== undefined) return { ...led, folder, source: folder, hasFiles };
  const known = repository === undefined ? undefined : await entryOf(run, folder, repository);
  if (known !== undefined) return { ...known, folder, source: known.gitFolder, hasFiles };
  const none = join(folder, ".git");
  const isLinked = false;
  return hasFiles ? { folder, gitFolder: none, commonFolder: none, isLinked, source: undefined, hasFiles } : undefined;
}

async function entryOf(run: RunGit, folder: string, repository: string): Promise<GitFolders | undefined> {
  const { commonFolder } = await findUserRepository(run, repository);
  const entry = await findEntry(commonFolder, folder, undefined);
  return entry && { gitFolder: entry.path, commonFolder, isLinked: true };
}

function whereItLeads(folder: string): GitFolders | undefined {
  const found = gitFoldersOf(folder);
  // Without HEAD git itself finds no repository there.
  return found !== undefined && targetAt(join(found.gitFolder, "HEAD"))?.isFile() ? found : undefined;
}

// Only the end of such a file matters, and no real file is this long.
const maxRead = 1024 * 1024;

/** The end of a file, or an empty string. Reads regular files only: reading anything else may never end. */
export function readSome(path: string): string {
  const found = targetAt(path);
  if (!found?.isFile()) return "";
  if (found.size <= maxRead) return readFileSync(path, "utf8");
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(maxRead);
    return buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, maxRead, found.size - maxRead));
  } finally {
    closeSync(descriptor);
  }
}

/** Lets git in the control repository read the objects of a workspace, without using the workspace's configuration. */
export function withObjectsOf({ commonFolder }: Workspace): Readonly<Record<string, string>> {
  const path = join(commonFolder, "objects").replaceAll(/["\\]/g, "\\$&");
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${path}"` };
}

/** Turns off indexes over objects, which an agent may have forged. Objects themselves are checked by their hash. */
export const distrust = ["core.commitGraph=false", "core.multiPackIndex=false"];
