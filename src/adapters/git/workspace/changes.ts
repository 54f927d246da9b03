import { hash } from "node:crypto";
import { copyFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import { entryAt } from "../file-entries.ts";
import { readFileAt } from "../git-folder.ts";
import { splitNul } from "../names.ts";
import type { GitPlace } from "../runner.ts";
import type { Workshop, WorkspaceRecord } from "./workshop.ts";

/** How to run git on the files of one workspace. */
export interface Files {
  readonly place: GitPlace;
  readonly env: Readonly<Record<string, string>>;
  readonly settings: readonly string[];
  /** Further environment variables, to read commits that only the workspace has. */
  readonly ownObjects: Readonly<Record<string, string>>;
}

export interface Changes {
  /** Tracked files that differ from the index, including missing ones. */
  readonly changed: readonly Buffer[];
  /** Untracked files; the name of a folder without any tracked file ends with a slash. */
  readonly others: readonly Buffer[];
}

/** Compares the files with an index. `ignored` says whether `others` includes ignored files. */
export async function listChanges({ git }: Workshop, files: Files, index: string, ignored: boolean): Promise<Changes> {
  const { stdout } = await git(
    files.place,
    [
      ...["ls-files", "-z", "-t", "--modified", "--others", "--directory"], // A folder in which everything is ignored is not in `others`.
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
 * Whether the workspace's own index differs from its commit; true also if the index cannot be read. `ours` is our index
 * of that commit: if both have the same entries, git need not be started.
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
  // An agent may have replaced the index while git read it.
  if (before !== undefined && code !== 128 && (await contentOf(index)) === before)
    stagedIn.set(gitFolder, { content: before, head, isStaged: code !== 0 });
  return code !== 0;
}

/** Cache of the last answer for each workspace: the same index and the same commit give the same answer. */
const stagedIn = new Map<string, { readonly content: string; readonly head: string; readonly isStaged: boolean }>();

/** The entries of one of our own indexes; undefined if only git can read it. */
export async function readOurs(index: string, idLength: number): Promise<IndexContent> {
  const bytes = await bytesOf(index);
  return bytes !== undefined && isSound(bytes, idLength) ? readIndex(bytes, idLength) : undefined;
}

async function contentOf(file: string): Promise<string | undefined> {
  const bytes = await bytesOf(file);
  return bytes && hash("sha256", bytes);
}

async function bytesOf(file: string): Promise<Buffer | undefined> {
  const bytes = await readFileAt(file, maxIndexSize);
  return typeof bytes === "string" ? undefined : bytes;
}

const maxIndexSize = 64 * 1024 * 1024;

/**
 * Passes an index of a commit to `use`, with recorded times for as many files as possible, so that git need not read
 * them. It is made from our index: the workspace's own may be told to ignore changes, or may be forged.
 */
export async function withIndexAt<T>(
  shop: Workshop,
  files: Files,
  { folder, record, commit }: { folder: string; record: WorkspaceRecord | undefined; commit: string },
  use: (index: string) => Promise<T>,
): Promise<T> {
  const own = shop.records.indexOf(folder);
  if (record?.phase === "ready" && record.commit === commit && entryAt(own)?.isFile()) {
    try {
      return await use(own);
    } catch (error) {
      // A power cut has damaged the index.
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

/** Our index can always be built again, and an fsync would take longer than everything else. */
export const lostIsFine = "core.fsync=none";

/** False if there is no such file. */
export async function copyIndex(from: string, to: string): Promise<boolean> {
  const found = await stat(from).catch(() => undefined);
  if (found === undefined) return false;
  try {
    await copyFile(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
  // Git trusts a file's time in the index only if it is older than the index itself. A copy that is too old makes git
  // read some files again; a copy that is newer than the original would hide changes.
  const seconds = Math.floor(found.mtimeMs) / 1000;
  await utimes(to, seconds, seconds);
  return true;
}

/** An entry of an index without the parts that only make git faster. */
interface IndexEntry {
  /** Mode, id and stage, as in the file. */
  readonly is: Buffer;
  readonly path: Buffer;
}

/** The entries of an index; undefined if it is broken, or of a kind that only git reads. */
type IndexContent = readonly IndexEntry[] | undefined;

/** For a larger index git is faster. */
const maxBytes = 8 * 1024 * 1024;
/** Offsets of the mode and the id in an entry. */
const [modeAt, idAt] = [24, 40];

/** Reads an index of version 2 or 3, as git's documentation of the format describes it. `idLength`: digits of an id. */
export function readIndex(bytes: Buffer, idLength: number): IndexContent {
  const idSize = idLength / 2;
  const version = bytes.length < 12 + idSize ? 0 : bytes.readUInt32BE(4);
  if (bytes.length > maxBytes || bytes.toString("latin1", 0, 4) !== "DIRC" || (version !== 2 && version !== 3))
    return undefined;
  const end = bytes.length - idSize;
  const entries: IndexEntry[] = [];
  let at = 12;
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + idAt + idSize;
    if (flagsAt + 4 > end) return undefined;
    const flags = bytes.readUInt16BE(flagsAt);
    const isExtended = (flags & 0x4000) !== 0;
    // An entry with intent-to-add has no content yet.
    if (isExtended && (bytes.readUInt16BE(flagsAt + 2) & 0x2000) !== 0) return undefined;
    const nameAt = flagsAt + (isExtended ? 4 : 2);
    const nameEnd = bytes.indexOf(0, nameAt);
    if (nameEnd < 0 || nameEnd >= end) return undefined;
    const is = Buffer.concat([
      bytes.subarray(at + modeAt, at + modeAt + 4),
      bytes.subarray(at + idAt, flagsAt),
      Buffer.of((flags >> 12) & 3),
    ]);
    entries.push({ is, path: bytes.subarray(nameAt, nameEnd) });
    at += Math.floor((nameEnd - at + 8) / 8) * 8;
  }
  return isAlone(bytes, at, end) ? entries : undefined;
}

/** False for a split or a sparse index, or one with other extensions that cannot be skipped. */
function isAlone(bytes: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; ) {
    if (at + 8 > end) return false;
    const name = bytes.toString("latin1", at, at + 4);
    // The names of optional extensions begin with a capital.
    if (!/^[A-Z]/.test(name)) return false;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return true;
}

/** Whether the checksum is right: a power cut may have damaged our index. */
export function isSound(bytes: Buffer, idLength: number): boolean {
  const content = bytes.subarray(0, -idLength / 2);
  return hash(idLength === 64 ? "sha256" : "sha1", content, "buffer").equals(bytes.subarray(-idLength / 2));
}

export function isSameContent(one: IndexContent, other: IndexContent): boolean {
  if (one === undefined || other === undefined || one.length !== other.length) return false;
  return one.every(({ is, path }, place) => {
    const same = other[place];
    return same !== undefined && is.equals(same.is) && path.equals(same.path);
  });
}

/** Whether the index contains this file, or files in this folder. */
export function hasPath(content: readonly IndexEntry[], path: string): boolean {
  return content.some((entry) => {
    const name = entry.path.toString("utf8");
    return name === path || name.startsWith(`${path}/`);
  });
}
