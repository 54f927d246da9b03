import { constants } from "node:fs";
import { copyFile, mkdir, readdir, rename, rm, rmdir, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeWhole } from "../../../durable-file.ts";
import { Fault } from "../../../fault.ts";
import { entryAt, isFolder, namesIn, pathIn } from "../file-entries.ts";
import { readFileAt, realFolders } from "../git-folder.ts";
import { branchRef, joinNul, splitNul } from "../names.ts";
import { type Changes, type Files, listChanges, lostIsFine } from "./changes.ts";
import { stuckByGit } from "./stuck.ts";
import type { Heap } from "./trash.ts";
import { removeDeadLock, type Workshop } from "./workshop.ts";

/**
 * Writes the files of a commit, and overwrites what is in their way: move that aside before. With `only` all other
 * files must already equal the index, and the index that commit.
 */
export async function checkOut(
  { git }: Workshop,
  files: Files,
  {
    index,
    commit,
    only,
  }: { readonly index: string; readonly commit: string; readonly only?: readonly Buffer[] | undefined },
): Promise<void> {
  if (only?.length === 0) return;
  const isPart = only !== undefined && only.length <= maxSingle;
  const args = isPart
    ? ["checkout-index", "--quiet", "--force", "--index", "-z", "--stdin"]
    : ["read-tree", "--reset", "-u", commit];
  const { stderr } = await git(files.place, args, {
    ...(isPart ? { input: joinNul(only) } : {}),
    env: { ...files.env, GIT_INDEX_FILE: index },
    settings: [...files.settings, lostIsFine],
    writes: true,
    isLong: true,
    // In a partial clone git fetches missing objects from the user's remote.
    ...(files.place.configuration === "user" ? { protocols: ["https", "ssh", "file"] as const } : {}),
  });
  const stuck = stuckByGit(files.place.folder, stderr);
  if (stuck !== undefined) throw stuck;
}

// Git handles each of these files separately; above this number a whole checkout is faster.
const maxSingle = 5_000;

/** Copies our index into the workspace. */
export async function installIndex(index: string, gitFolder: string, workers: readonly string[]): Promise<void> {
  const { mtimeMs } = await stat(index);
  await replaceLocked(join(gitFolder, "index"), workers, async (lock) => {
    await copyFile(index, lock, constants.COPYFILE_EXCL);
    // Keeps the original's time, so that git checks files again that changed at that moment.
    const seconds = Math.floor(mtimeMs) / 1000;
    await utimes(lock, seconds, seconds);
  });
}

const first = "# >>> signalbox: task files of agents (kept by signalbox)";
const last = "# <<< signalbox";

/**
 * Our lines of git's exclude file. They come first, so that the user's lines win, and removing ours leaves no trace.
 */
export const excludeBlock = `${[
  first,
  "/TASK.md",
  "/TASK.md.*.draft",
  "/.signalbox/*.md",
  "/.signalbox/*.md.*.draft",
  "/.signalbox/documents/",
  last,
].join("\n")}\n`;

/** The exclude file that all worktrees of a repository share. Git reads no other. */
export function excludeFile(commonFolder: string): string {
  return join(commonFolder, "info", "exclude");
}

export async function addExclude(commonFolder: string): Promise<void> {
  await change(commonFolder, (rest) => excludeBlock + rest);
}

export async function removeExclude(commonFolder: string): Promise<void> {
  await change(commonFolder, (rest) => rest);
}

async function change(commonFolder: string, write: (rest: string) => string): Promise<void> {
  const path = excludeFile(commonFolder);
  const bytes = await readFileAt(path, 16 * 1024 * 1024);
  if (bytes === "other" || bytes === "too-large") throw notPlain(path);
  // latin1 keeps every byte: it has one character for each.
  const before = bytes === "none" ? "" : bytes.toString("latin1");
  const after = write(withoutBlocks(before));
  if (after === before) return;
  await makeInfoFolder(dirname(path));
  await writeWhole(path, Buffer.from(after, "latin1"), { mode: entryAt(path)?.mode ?? 0o644 });
}

/** Does not create the folders above: a repository that was just moved must not reappear at its old path. */
async function makeInfoFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT") throw error;
    throw new Fault("git.not-a-repository", `${dirname(folder)} is no longer there.`, {
      hint: "If the repository was moved: signalbox project update NAME --path PATH",
    });
  }
}

/**
 * The text without our blocks, even if one was copied or truncated: a block ends at the first line that is not ours.
 */
export function withoutBlocks(text: string): string {
  const kept: string[] = [];
  let isInside = false;
  for (const line of text.split(/(?<=\n)/)) {
    const plain = line.trimEnd();
    if (plain === first) isInside = true;
    else if (isInside && plain === last) isInside = false;
    else if (!isInside || !ours.has(plain)) {
      isInside = false;
      kept.push(line);
    }
  }
  return kept.join("");
}

const ours = new Set(excludeBlock.split("\n").filter((line) => line.startsWith("/")));

function notPlain(path: string): Fault {
  return new Fault(
    "workspace.unwritable",
    `${path} is not a regular file, so task files cannot be hidden from git there.`,
    {
      hint: "Replace it with a regular file; if it is a link, copy the content of its target.",
    },
  );
}

/**
 * Replaces one of git's files as git does: writes a lock file, which must not exist yet, and renames it. `workers` are
 * the folders in which a running git process may hold the lock.
 */
async function replaceLocked(
  path: string,
  workers: readonly string[],
  write: (lock: string) => Promise<unknown>,
): Promise<void> {
  const lock = `${path}.lock`;
  for (;;) {
    try {
      await write(lock);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const since = entryAt(lock)?.mtimeMs;
      if (!(await removeDeadLock({ path: lock, since }, [dirname(path)], workers))) throw locked(lock);
    }
  }
  try {
    await rename(lock, path);
  } catch (error) {
    await rm(lock, { force: true });
    throw error;
  }
}

function locked(lock: string): Fault {
  return new Fault("git.locked", `"${lock}" exists: git is running, or was killed.`, {
    retry: "later",
    hint: "If no git is running there, nor on another machine that shares the folder, remove that file.",
  });
}

/** Writes HEAD, as `git symbolic-ref` does, without the cost of a process. */
export async function writeHead(gitFolder: string, text: string, workers: readonly string[]): Promise<void> {
  await replaceLocked(join(gitFolder, "HEAD"), workers, (lock) => writeFile(lock, text, { flag: "wx" }));
}

/** The content of HEAD on a branch. */
export function onBranch(branch: string): string {
  return `ref: ${branchRef(branch)}\n`;
}

/** The content of HEAD on a branch, or detached at a commit. */
export function headText({ branch, commit }: { readonly branch: string | undefined; readonly commit: string }): string {
  return branch === undefined ? `${commit}\n` : onBranch(branch);
}

interface Clearing {
  readonly folder: string;
  readonly index: string;
  readonly heap: Heap;
}

export interface Cleared {
  /** Tracked files that were moved to the trash or were missing. */
  readonly changed: readonly Buffer[];
  /** Folders that were kept because of their names. */
  readonly kept: readonly Buffer[];
}

/**
 * Moves everything to the trash that differs from the index, including changed files that should have been salvaged:
 * the salvage may have missed one.
 */
export async function clearAside(
  shop: Workshop,
  files: Files,
  clearing: Clearing & { readonly keep: readonly string[] },
): Promise<Cleared> {
  const { folder, index, keep, heap } = clearing;
  const changes = await listChanges(shop, files, index, true);
  const kept: Buffer[] = [];
  await each(changes.others.map(withoutSlash), async (path) => {
    const last = path.subarray(path.lastIndexOf("/") + 1).toString("utf8");
    if (keep.includes(last) && isFolder(pathIn(folder, path))) kept.push(path);
    else await heap.take(pathIn(folder, path), path);
  });
  await takeAll(changes.changed, clearing);
  const isReal = realFolders(folder);
  for (const path of await nestedRepositories(shop, files, { folder, index, changes })) {
    const place = pathIn(folder, path);
    if (!(await isReal(path))) continue;
    if (isFolder(place) && (await namesIn(place)).length === 0) continue;
    await heap.take(place, path);
    await mkdir(place);
  }
  await clearSpecial(folder, keep, heap);
  return { changed: changes.changed, kept };
}

/** Moves files to the trash. Does not follow a link that has replaced a folder. */
export async function takeAll(paths: readonly Buffer[], { folder, heap }: Omit<Clearing, "index">): Promise<void> {
  const isReal = realFolders(folder);
  await each(paths, async (path) => {
    if (await isReal(path)) await heap.take(pathIn(folder, path), path);
  });
}

/** Moves files of the kept folders to the trash unless the commit that is checked out now ignores them. */
export async function clearLeftovers(shop: Workshop, files: Files, { folder, index, heap }: Clearing): Promise<void> {
  const { others } = await listChanges(shop, files, index, false);
  await each(others.map(withoutSlash), (path) => heap.take(pathIn(folder, path), path));
}

/**
 * Deletes named pipes, sockets and devices, which git never lists, and folders that contained nothing else. They hold
 * no content to save, and a program that opens a pipe waits for ever. Skips the folders in `keep`. Moves the `.git` of
 * repositories that were created among tracked files to the trash: git does not list those either.
 */
export async function clearSpecial(folder: string, keep: readonly string[], heap: Heap): Promise<void> {
  const top = Buffer.from(folder);
  await removeSpecial(top, {
    isSkipped: (name) => keep.includes(name),
    async takeGit(path) {
      const name = path.subarray(top.length + 1);
      if (name.toString("latin1") !== ".git") await heap.take(path, name);
    },
  });
}

interface Removal {
  isSkipped(name: string): boolean;
  takeGit(path: Buffer): Promise<void>;
}

/** Returns whether anything was removed. */
async function removeSpecial(folder: Buffer, removal: Removal): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: "buffer" }).catch((error) => {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  });
  let hasRemoved = false;
  for (const entry of entries) {
    const isGit = entry.name.equals(dotGit);
    // Nearly all entries are files: making their names takes longer than reading the folder.
    if (!isGit && (entry.isFile() || entry.isSymbolicLink())) continue;
    const path = pathIn(folder, entry.name);
    const name = entry.name.toString("utf8");
    if (isGit) await removal.takeGit(path);
    else if (entry.isDirectory()) {
      if (removal.isSkipped(name) || !(await removeSpecial(path, removal))) continue;
      hasRemoved = true;
      await rmdir(path).catch(unless("ENOTEMPTY", "EEXIST"));
    } else {
      await unlink(path).catch(unless("ENOENT"));
      hasRemoved = true;
    }
  }
  return hasRemoved;
}

const dotGit = Buffer.from(".git");

function unless(...codes: readonly string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
}

/** The submodules. Git does not list their files, which belong to other repositories. */
async function nestedRepositories(
  { git }: Workshop,
  files: Files,
  { folder, index, changes }: { folder: string; index: string; changes: Changes },
): Promise<readonly Buffer[]> {
  const isListed = changes.changed.some((path) => path.toString("latin1") === ".gitmodules");
  if (!isListed && entryAt(pathIn(folder, ".gitmodules")) === undefined) return [];
  const { stdout } = await git(files.place, ["ls-files", "-z", "--stage"], {
    env: { ...files.env, GIT_INDEX_FILE: index },
    settings: files.settings,
  });
  return splitNul(stdout)
    .filter((line) => line.toString("latin1", 0, 6) === "160000")
    .map((line) => line.subarray(line.indexOf("\t") + 1));
}

/** Runs four at a time: more would block other work on the disk. */
async function each(paths: readonly Buffer[], act: (path: Buffer) => Promise<void>): Promise<void> {
  const left = paths.values();
  const work = async () => {
    for (const path of left) await act(path);
  };
  await Promise.all(Array.from({ length: 4 }, work));
}

function withoutSlash(name: Buffer): Buffer {
  return name.at(-1) === 0x2f ? name.subarray(0, -1) : name;
}
