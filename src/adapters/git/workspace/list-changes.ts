import { hash } from "node:crypto";
import { copyFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import { splitNul } from "../file-name.ts";
import type { GitPlace } from "../git-runner.ts";
import { entryAt } from "./entry-at.ts";
import { readFileAt } from "./read-git-folder.ts";
import { type IndexContent, isSameContent, isSound, readIndex } from "./read-index.ts";
import type { WorkspaceRecord } from "./records.ts";
import type { Workshop } from "./workshop.ts";

/** How git works on the files of one workspace. */
export interface Files {
  readonly place: GitPlace;
  readonly env: Readonly<Record<string, string>>;
  readonly settings: readonly string[];
  /** What else it takes to see commits that only the workspace has. */
  readonly ownObjects: Readonly<Record<string, string>>;
}

export interface Changes {
  /** Tracked files that are not as the index has them: also those that are gone. */
  readonly changed: readonly Buffer[];
  /** What the index does not know; the name of a folder that it knows nothing of ends with a slash. */
  readonly others: readonly Buffer[];
}

/** Compares the files with an index. `ignored` says whether what git ignores is one of the others. */
export async function listChanges({ git }: Workshop, files: Files, index: string, ignored: boolean): Promise<Changes> {
  const { stdout } = await git(
    files.place,
    [
      ...["ls-files", "-z", "-t", "--modified", "--others", "--directory"], // A folder in which everything is ignored is none of the others.
      ...(ignored ? [] : ["--exclude-standard", "--no-empty-directory"]),
    ],
    { env: { ...files.env, ...files.ownObjects, GIT_INDEX_FILE: index }, settings: files.settings, isLong: true },
  );
  const changed: Buffer[] = [];
  const others: Buffer[] = [];
  for (const line of splitNul(stdout)) (line[0] === questionMark ? others : changed).push(line.subarray(2));
  return { changed, others };
}

const questionMark = 0x3f;

/**
 * Whether the workspace's own index has something that its commit has not. One that cannot be read may have anything. `ours`
 * stands for the commit: where both have the same files, git need not be asked.
 */
export async function isStaged(
  { git }: Workshop,
  files: Files,
  { gitFolder, head, ours }: { readonly gitFolder: string; readonly head: string; readonly ours: string },
): Promise<boolean> {
  const index = join(gitFolder, "index");
  const bytes = await bytesOf(index);
  const before = bytes && hash("sha256", bytes);
  const known = stagedIn.get(gitFolder);
  if (before !== undefined && known?.content === before && known.head === head) return known.isStaged;
  if (
    bytes &&
    before !== undefined &&
    isSameContent(readIndex(bytes, head.length), await readOurs(ours, head.length))
  ) {
    stagedIn.set(gitFolder, { content: before, head, isStaged: false });
    return false;
  }
  const { code } = await git(
    files.place,
    ["diff-index", "--cached", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", head, "--"],
    {
      accepts: [0, 1, 128],
      env: { ...files.env, ...files.ownObjects, GIT_INDEX_FILE: index },
      settings: files.settings,
    },
  );
  // An agent may have written another one while git read this one.
  if (before !== undefined && code !== 128 && (await contentOf(index)) === before)
    stagedIn.set(gitFolder, { content: before, head, isStaged: code !== 0 });
  return code !== 0;
}

/** What was found last in each: the same index compared with the same commit gives the same answer. */
const stagedIn = new Map<string, { readonly content: string; readonly head: string; readonly isStaged: boolean }>();

/** What one of our own indexes stands for; undefined where only git can tell. */
export async function readOurs(index: string, idLength: number): Promise<IndexContent> {
  const bytes = await bytesOf(index);
  return bytes !== undefined && isSound(bytes, idLength) ? readIndex(bytes, idLength) : undefined;
}

async function contentOf(file: string): Promise<string | undefined> {
  const bytes = await bytesOf(file);
  return bytes && hash("sha256", bytes);
}

async function bytesOf(file: string): Promise<Buffer | undefined> {
  const bytes = await readFileAt(file, mostIndex);
  return typeof bytes === "string" ? undefined : bytes;
}

const mostIndex = 64 * 1024 * 1024;

/**
 * Gives an index that stands for a commit and knows as many files as possible without reading them. It begins with ours:
 * the workspace's own may have been told to overlook changes, or may lie.
 */
export async function withIndexAt<T>(
  shop: Workshop,
  files: Files,
  { folder, record, commit }: { folder: string; record: WorkspaceRecord | undefined; commit: string },
  use: (index: string) => Promise<T>,
): Promise<T> {
  const own = shop.records.indexOf(folder);
  if (record?.phase === "ready" && record.commit === commit && (await entryAt(own))?.isFile()) {
    try {
      return await use(own);
    } catch (error) {
      // It did not outlive a power cut.
      if (!(error instanceof Fault) || error.code !== "git.failed") throw error;
    }
  }
  const draft = await shop.records.draft();
  try {
    if (await copyIndex(shop.records.madeFor(folder, commit), draft)) {
      try {
        return await use(draft);
      } catch (error) {
        if (!(error instanceof Fault) || error.code !== "git.failed") throw error;
        await rm(draft, { force: true });
      }
    }
    await draftIndex(shop, files, { own: record && own, draft, commit });
    if (record !== undefined) await shop.records.keepMade(folder, commit, draft);
    return await use(draft);
  } finally {
    await rm(draft, { force: true });
  }
}

export async function draftIndex(
  { git }: Workshop,
  files: Files,
  { own, draft, commit }: { own: string | undefined; draft: string; commit: string },
): Promise<void> {
  const read = (...how: readonly string[]) =>
    git(files.place, ["read-tree", ...how, commit], {
      env: { ...files.env, ...files.ownObjects, GIT_INDEX_FILE: draft },
      settings: [...files.settings, lostIsFine],
      writes: true,
      isLong: true,
    });
  if (own !== undefined && (await copyIndex(own, draft))) {
    try {
      return void (await read("-m"));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "git.failed") throw error;
      await rm(draft, { force: true });
    }
  }
  await read();
}

/** Our index can always be made anew, and making it last would take longer than everything else. */
export const lostIsFine = "core.fsync=none";

/** False where there is none. */
export async function copyIndex(from: string, to: string): Promise<boolean> {
  const found = await stat(from).catch(() => undefined);
  if (found === undefined) return false;
  try {
    await copyFile(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  // Git trusts a time in the index only if it is older than the index itself. Too old a copy costs a look at a file; one
  // that looks newer than the original would hide changes.
  const seconds = Math.floor(found.mtimeMs) / 1000;
  await utimes(to, seconds, seconds);
  return true;
}
