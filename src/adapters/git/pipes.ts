import { type Dirent, lstatSync, type Stats } from "node:fs";
import { readdir, unlink } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";
import { Fault } from "../../fault.ts";
import { blockedWorkspace } from "../../ports/workspaces.ts";
import { shellWord } from "../../shell-quote.ts";
import { entryAt, targetAt } from "./file-entries.ts";
import { findFolders, type GitFolders } from "./git-folder.ts";
import type { GitPlace, RunOptions } from "./runner.ts";

/** The fault for a path on which git would hang: opening a named pipe waits for ever for a writer. */
export function blocked(path: string): Fault {
  const found = entryAt(path);
  const what = found?.isSymbolicLink() ? "a link to a pipe, socket or device" : kindOf(found);
  return new Fault(blockedWorkspace, `${path} is ${what}, and git would wait for it for ever.`, {
    hint: `Remove it: rm ${shellWord(path)}`,
    cause: { path },
  });
}

function kindOf(found: Stats | undefined): string {
  if (found?.isFIFO()) return "a named pipe";
  return found?.isSocket() ? "a socket" : "a device";
}

const inWorkTree = [".gitignore", ".gitattributes", ".gitmodules"];
/** Not HEAD: a workspace whose HEAD cannot be read is broken, and is created again. */
const inGitFolder = ["index"];
const inCommonFolder = ["config", "packed-refs", "info/exclude", "info/attributes", "objects/info/alternates"];

/** Pipes that `findPipe` has found. `pipeIn` checks them, so that no second git process waits for them. */
const known = new Set<string>();
const maxKnown = 1_000;

/**
 * The first pipe, socket or device among the files that git opens in every inspection of a workspace; undefined if
 * there is none. Takes a dozen calls of lstat. `findPipe` finds pipes deeper in the tree, once a git process is slow.
 */
export function pipeIn(folder: string, { gitFolder, commonFolder }: GitFolders, branch?: string): string | undefined {
  const paths = [
    ...inWorkTree.map((name) => join(folder, name)),
    ...inGitFolder.map((name) => join(gitFolder, name)),
    ...inCommonFolder.map((name) => join(commonFolder, name)),
    ...(branch === undefined ? [] : [join(commonFolder, "refs/heads", branch)]),
    ...[...known].filter((path) => [folder, gitFolder].some((above) => path.startsWith(above + sep))),
  ];
  return paths.find(isPipe);
}

/** Git follows links to most of these files. */
function isPipe(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const is = isSpecial(found?.isSymbolicLink() ? targetAt(path) : found);
  if (!is) known.delete(path);
  return is;
}

function isSpecial(found: Pick<Stats, "isFile" | "isDirectory" | "isSymbolicLink"> | undefined): boolean {
  return found !== undefined && !found.isFile() && !found.isDirectory() && !found.isSymbolicLink();
}

/** The folders and files that a git process may read, as far as its arguments and environment name them. */
export function readBy(place: GitPlace, args: readonly string[], { env = {} }: RunOptions): readonly string[] {
  const { GIT_COMMON_DIR: common = "", GIT_INDEX_FILE: index = "", GIT_ALTERNATE_OBJECT_DIRECTORIES: own = "" } = env;
  const named = [place.folder, place.workTree ?? "", place.gitDir ?? "", common, index, own.replace(/^"|"$/g, "")];
  return [...new Set([...named, ...args].filter(isAbsolute))];
}

/**
 * Searches folders for a pipe that git may wait for: one with the name of a file that git reads, or inside a git
 * folder. Used only once a git process is slow, since it reads every folder. `isOver` ends it early.
 */
export async function findPipe(roots: readonly string[], isOver: () => boolean): Promise<string | undefined> {
  const [first] = await findPipes(roots, isOver, 1);
  if (first !== undefined) {
    if (known.size >= maxKnown) known.clear();
    known.add(first);
  }
  return first;
}

/** Deletes the pipes in a workspace that git would wait for. They hold no content. Returns how many there were. */
export async function deletePipes(folder: string, gitFolder: string | undefined): Promise<number> {
  const roots = [folder, ...(gitFolder === undefined ? [] : [gitFolder])];
  const own = [...roots, ...roots.flatMap((root) => places(root))].filter(isPipe);
  const found = new Set([...own, ...(await findPipes(roots, () => false, Number.POSITIVE_INFINITY, false))]);
  for (const path of found) await unlink(path).catch(() => {});
  return found.size;
}

function places(folder: string): readonly string[] {
  return [...inWorkTree, ...inGitFolder, ...inCommonFolder].map((name) => join(folder, name));
}

async function findPipes(
  roots: readonly string[],
  isOver: () => boolean,
  most: number,
  followsGit = true,
): Promise<readonly string[]> {
  const found: string[] = [];
  const seen = new Set<string>();
  const isEnough = () => isOver() || found.length >= most;
  const search = async (folder: string, isGits: boolean): Promise<void> => {
    if (isEnough() || seen.has(folder)) return;
    seen.add(folder);
    const entries = await readdir(folder, { withFileTypes: true }).catch((): Dirent[] => []);
    const isRepository = isGits || isGitFolder(entries);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await search(path, isRepository || entry.name === ".git");
      else if (isSpecial(entry) && (isRepository ? !entry.isSocket() : inWorkTree.includes(entry.name)))
        found.push(path);
      if (isEnough()) return;
    }
  };
  for (const root of roots) {
    const entry = entryAt(root);
    if (isSpecial(entry)) found.push(root);
    if (!entry?.isDirectory()) continue;
    await search(root, false);
    // The file .git of a worktree leads to two other folders.
    const led = followsGit ? await findFolders(root).catch(() => undefined) : undefined;
    for (const other of [led?.gitFolder, led?.commonFolder]) if (other !== undefined) await search(other, true);
  }
  return found;
}

function isGitFolder(entries: readonly Dirent[]): boolean {
  const names = new Set(entries.map(({ name }) => name));
  return names.has("HEAD") && (names.has("objects") || names.has("commondir"));
}
