import { mkdir, readdir, rmdir, unlink } from "node:fs/promises";
import { splitNul } from "../file-name.ts";
import { entryAt, isFolder, namesIn, pathIn } from "./entry-at.ts";
import { type Changes, type Files, listChanges } from "./list-changes.ts";
import { realFolders } from "./real-folders.ts";
import type { Heap } from "./trash/open-heap.ts";
import type { Workshop } from "./workshop.ts";

export interface Clearing {
  readonly folder: string;
  readonly index: string;
  readonly heap: Heap;
}

export interface Cleared {
  /** Tracked files that are not there any more. */
  readonly changed: readonly Buffer[];
  /** Folders that were left because of their names. */
  readonly kept: readonly Buffer[];
}

/**
 * Moves everything to the trash that is not as an index has it, changed files too: whoever salvaged them may have
 * overlooked one.
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
    if (keep.includes(last) && (await isFolder(pathIn(folder, path)))) kept.push(path);
    else await heap.take(pathIn(folder, path), path);
  });
  await takeAll(changes.changed, clearing);
  const isReal = realFolders(folder);
  for (const path of await nestedRepositories(shop, files, { folder, index, changes })) {
    const place = pathIn(folder, path);
    if (!(await isReal(path))) continue;
    if ((await isFolder(place)) && (await namesIn(place)).length === 0) continue;
    await heap.take(place, path);
    await mkdir(place);
  }
  await clearSpecial(folder, keep, heap);
  return { changed: changes.changed, kept };
}

/** Moves files to the trash. What a link leads to that was put in the place of a folder is left alone. */
export async function takeAll(paths: readonly Buffer[], { folder, heap }: Omit<Clearing, "index">): Promise<void> {
  const isReal = realFolders(folder);
  await each(paths, async (path) => {
    if (await isReal(path)) await heap.take(pathIn(folder, path), path);
  });
}

/** What was kept must be ignored by what is checked out now. */
export async function clearLeftovers(shop: Workshop, files: Files, { folder, index, heap }: Clearing): Promise<void> {
  const { others } = await listChanges(shop, files, index, false);
  await each(others.map(withoutSlash), (path) => heap.take(pathIn(folder, path), path));
}

/**
 * Deletes named pipes, sockets and devices, which git lists nowhere, and folders that had nothing else in them. They hold no
 * content to save, and a program that opens a pipe waits for ever. Folders to be kept stay as they are. A folder of
 * tracked files that was made a repository of its own is none any more: git lists nothing of that either.
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

/** Says whether one was there. */
async function removeSpecial(folder: Buffer, removal: Removal): Promise<boolean> {
  const entries = await readdir(folder, { withFileTypes: true, encoding: "buffer" }).catch((error) => {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  });
  let hasRemoved = false;
  for (const entry of entries) {
    const path = pathIn(folder, entry.name);
    const name = entry.name.toString("utf8");
    if (name === ".git") await removal.takeGit(path);
    else if (entry.isDirectory()) {
      if (removal.isSkipped(name) || !(await removeSpecial(path, removal))) continue;
      hasRemoved = true;
      await rmdir(path).catch(unless("ENOTEMPTY", "EEXIST"));
    } else if (!entry.isFile() && !entry.isSymbolicLink()) {
      await unlink(path).catch(unless("ENOENT"));
      hasRemoved = true;
    }
  }
  return hasRemoved;
}

function unless(...codes: readonly string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? "")) throw error;
  };
}

/** Submodules. What is in them belongs to other repositories, so git does not list it. */
async function nestedRepositories(
  { git }: Workshop,
  files: Files,
  { folder, index, changes }: { folder: string; index: string; changes: Changes },
): Promise<readonly Buffer[]> {
  const isListed = changes.changed.some((path) => path.toString("latin1") === ".gitmodules");
  if (!isListed && (await entryAt(pathIn(folder, ".gitmodules"))) === undefined) return [];
  const { stdout } = await git(files.place, ["ls-files", "-z", "--stage"], {
    env: { ...files.env, GIT_INDEX_FILE: index },
    settings: files.settings,
  });
  return splitNul(stdout)
    .filter((line) => line.toString("latin1", 0, 6) === "160000")
    .map((line) => line.subarray(line.indexOf("\t") + 1));
}

/** A few at a time: more would keep others from the disk. */
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
