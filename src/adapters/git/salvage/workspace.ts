import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join, resolve } from "node:path";
import { targetAt } from "../entry-at.ts";
import type { RunGit } from "../git-runner.ts";
import { findUserRepository } from "../workspace/user-repository.ts";
import { findEntry } from "../workspace/worktree/find-entry.ts";

/** Where git keeps what belongs to a workspace. Found by reading, so that no git has to run there. */
export interface Workspace {
  readonly folder: string;
  readonly gitFolder: string;
  /** What all worktrees of a repository share; the same as `gitFolder` in a clone. */
  readonly commonFolder: string;
  readonly isLinked: boolean;
  /** Where git fetches from what it has; undefined where there is no repository any more, but only files. */
  readonly source: string | undefined;
  /** Whether the folder itself is there. */
  readonly hasFiles: boolean;
}

/** `repository` knows its worktrees also where their folders are gone, or do not lead to it. */
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

type GitFolders = Pick<Workspace, "gitFolder" | "commonFolder" | "isLinked">;

async function entryOf(run: RunGit, folder: string, repository: string): Promise<GitFolders | undefined> {
  const { commonFolder } = await findUserRepository(run, repository);
  const entry = await findEntry(commonFolder, folder, undefined);
  return entry && { gitFolder: entry.path, commonFolder, isLinked: true };
}

function whereItLeads(folder: string): GitFolders | undefined {
  const dotGit = join(folder, ".git");
  const isFolder = targetAt(dotGit)?.isDirectory() ?? false;
  const [, named] = isFolder ? [] : (/^gitdir: (.+)$/m.exec(readSome(dotGit)) ?? []);
  const gitFolder = isFolder ? dotGit : named && resolve(folder, named);
  // Without HEAD git itself finds no repository there.
  if (gitFolder === undefined || !targetAt(join(gitFolder, "HEAD"))?.isFile()) return undefined;
  const common = readSome(join(gitFolder, "commondir")).trim();
  const commonFolder = common === "" ? gitFolder : resolve(gitFolder, common);
  return { gitFolder, commonFolder, isLinked: common !== "" };
}

// The ends of such files are what counts; nobody has so many entries.
const mostRead = 1024 * 1024;

/** The end of a file, or nothing. Only of real files: reading from something else may never end. */
export function readSome(path: string): string {
  const found = targetAt(path);
  if (!found?.isFile()) return "";
  if (found.size <= mostRead) return readFileSync(path, "utf8");
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(mostRead);
    return buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, mostRead, found.size - mostRead));
  } finally {
    closeSync(descriptor);
  }
}

/** Lets git, in the control repository, see the objects of a workspace as well. It obeys nothing that is written there. */
export function withObjectsOf({ commonFolder }: Workspace): Readonly<Record<string, string>> {
  const path = join(commonFolder, "objects").replaceAll(/["\\]/g, "\\$&");
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${path}"` };
}

/** Indexes over objects that somebody else may have written; the objects themselves cannot lie. */
export const distrust = ["core.commitGraph=false", "core.multiPackIndex=false"];
