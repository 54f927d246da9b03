import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { ControlGit } from "../control/control-git.ts";
import { entryIfSeen } from "../file-entries.ts";
import { isObjectId, joinNul, splitNul } from "../names.ts";
import type { GitPlace } from "../runner.ts";
import { distrust, type Workspace, withObjectsOf } from "../untrusted-folder.ts";

export interface IndexEntry {
  readonly mode: string;
  readonly id: string;
  /** Not 0 for a file in conflict. */
  readonly stage: string;
  readonly path: Buffer;
  /** From `ls-files -v`: `S` for skip-worktree, lower case for assume-unchanged. */
  readonly tag: string;
}

/**
 * Gives the draft a copy of the workspace's index: then git reads only changed files, and the staged files are known.
 * If the index is broken, or contains names that are not allowed, the draft begins with the files of HEAD.
 */
export async function draftIndex(
  control: ControlGit,
  workspace: Workspace,
  draft: GitPlace & { readonly gitDir: string },
  head: string | undefined,
): Promise<readonly IndexEntry[]> {
  copyIndex(workspace, draft.gitDir);
  const entries = await readIndex(control, draft);
  if (entries !== undefined) {
    await noticeEverything(control, draft, entries);
    return entries;
  }
  writeFileSync(join(draft.gitDir, "index"), "");
  const begin = head === undefined ? ["read-tree", "--empty"] : ["read-tree", "--end-of-options", head];
  await control.run(draft, begin, { writes: true });
  return (await readIndex(control, draft)) ?? [];
}

const maxBytes = 512 * 1024 * 1024;

function copyIndex({ gitFolder }: Workspace, draft: string): void {
  const path = join(gitFolder, "index");
  const found = entryIfSeen(path);
  if (!found?.isFile() || found.size > maxBytes) return;
  const bytes = readFileSync(path);
  if (!isSound(bytes)) return;
  const copy = join(draft, "index");
  writeFileSync(copy, bytes);
  // Git trusts a file's time in the index only if it is older than the index itself. A copy that is too old makes git
  // read some files again; a copy that is newer than the original would hide changes.
  const seconds = Math.floor(found.mtimeMs / 1000) - 1;
  utimesSync(copy, seconds, seconds);
  // A split index has most of its entries in a second file.
  for (const name of readdirSync(gitFolder).filter((each) => /^sharedindex\.[0-9a-f]+$/.test(each))) {
    if (entryIfSeen(join(gitFolder, name))?.isFile()) copyFileSync(join(gitFolder, name), join(draft, name));
  }
}

/** Git does not verify the checksum when it reads an index. With `index.skipHash` it is all zeros. */
function isSound(bytes: Buffer): boolean {
  return [["sha1", 20] as const, ["sha256", 32] as const].some(([algorithm, length]) => {
    const sum = bytes.subarray(-length);
    if (sum.every((byte) => byte === 0)) return bytes.length > length;
    return createHash(algorithm).update(bytes.subarray(0, -length)).digest().equals(sum);
  });
}

async function readIndex(control: ControlGit, draft: GitPlace): Promise<readonly IndexEntry[] | undefined> {
  const { code, stdout } = await control.run(draft, ["ls-files", "--stage", "-v", "-z"], { accepts: [0, 128] });
  if (code !== 0) return undefined;
  const entries = splitNul(stdout).map((line): IndexEntry => {
    const tab = line.indexOf("\t");
    const [tag = "", mode = "", id = "", stage = ""] = line.toString("latin1", 0, tab).split(" ");
    return { tag, mode, id, stage, path: line.subarray(tab + 1) };
  });
  return entries.every(({ path }) => isInside(path.toString("latin1"))) ? entries : undefined;
}

/** Git checks a path when it is added to an index, but trusts the paths of an existing index. */
function isInside(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && part.toLowerCase() !== ".git");
}

/** Clears assume-unchanged, and skip-worktree for files that exist: such files may have changed all the same. */
async function noticeEverything(control: ControlGit, draft: GitPlace, entries: readonly IndexEntry[]): Promise<void> {
  const isThere = ({ path }: IndexEntry) =>
    entryIfSeen(Buffer.concat([Buffer.from(`${draft.folder}/`), path])) !== undefined;
  const overlooked = entries.filter(({ tag }) => tag !== tag.toUpperCase());
  const leftOut = entries.filter((entry) => entry.tag.toUpperCase() === "S" && isThere(entry));
  for (const [flag, files] of [
    ["--no-assume-unchanged", overlooked],
    ["--no-skip-worktree", leftOut],
  ] as const) {
    if (files.length === 0) continue;
    const input = joinNul(files.map(({ path }) => path));
    await control.run(draft, ["update-index", flag, "-z", "--stdin"], { input, writes: true });
  }
}

/** Copies staged objects that were never committed. Each is hashed again, and refused if its id does not match. */
export async function copyStaged(
  control: ControlGit,
  workspace: Workspace,
  draft: GitPlace & { readonly gitDir: string },
  entries: readonly IndexEntry[],
): Promise<void> {
  const staged = [...new Set(entries.filter(({ mode }) => mode !== "160000").map(({ id }) => id))];
  const missing = await split(control, staged, {});
  const { found } = await split(control, missing.missing, withObjectsOf(workspace));
  if (found.length === 0) return;
  const { stdout } = await control.git(["pack-objects", "-q", "--window=0", join(draft.gitDir, "staged")], {
    input: Buffer.from(found.map((id) => `${id}\n`).join("")),
    env: withObjectsOf(workspace),
    settings: distrust,
    isLong: true,
    writes: true,
  });
  const pack = join(draft.gitDir, `staged-${stdout.toString("latin1").trim()}.pack`);
  await control.git(["index-pack", "--stdin", "--fsck-objects"], { inputFile: pack, isLong: true, writes: true });
}

async function split(
  control: ControlGit,
  ids: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ readonly found: readonly string[]; readonly missing: readonly string[] }> {
  if (ids.length === 0) return { found: [], missing: [] };
  const { stdout } = await control.git(["cat-file", "--batch-check=%(objectname)"], {
    input: Buffer.from(ids.map((id) => `${id}\n`).join("")),
    env,
    settings: distrust,
  });
  const found = new Set(stdout.toString("latin1").split("\n").filter(isObjectId));
  return { found: [...found], missing: ids.filter((id) => !found.has(id)) };
}

/**
 * The staged files as one tree; undefined if some objects are missing. The sides of a file in conflict become files
 * with their own names: most are in commits too, but files that were staged when a stash was popped are nowhere else.
 */
export async function stagedTree(
  control: ControlGit,
  draft: GitPlace & { readonly gitDir: string },
  entries: readonly IndexEntry[],
): Promise<string | undefined> {
  const sides = entries.filter(({ stage }) => stage !== "0");
  const env = sides.length === 0 ? {} : { GIT_INDEX_FILE: await indexWithSides(control, draft, entries, sides) };
  const { code, stdout } = await control.run(draft, ["write-tree"], { env, accepts: [0, 128], writes: true });
  return code === 0 ? stdout.toString("latin1").trim() : undefined;
}

async function indexWithSides(
  control: ControlGit,
  draft: GitPlace & { readonly gitDir: string },
  entries: readonly IndexEntry[],
  sides: readonly IndexEntry[],
): Promise<string> {
  const index = join(draft.gitDir, "staged-index");
  await copyFile(join(draft.gitDir, "index"), index);
  const update = (args: readonly string[], input: Buffer) =>
    control.run(draft, ["update-index", ...args], { input, env: { GIT_INDEX_FILE: index }, writes: true });
  await update(["--force-remove", "-z", "--stdin"], joinNul(sides.map(({ path }) => path)));
  const taken = new Set(entries.map(({ path }) => path.toString("latin1")));
  const lines = sides.map(({ mode, id, stage, path }) =>
    Buffer.concat([Buffer.from(`${mode} ${id} 0\t`), nameOfSide(path, stage, taken)]),
  );
  await update(["-z", "--index-info"], joinNul(lines));
  return index;
}

const sideNames: Readonly<Record<string, string>> = { "1": "base", "2": "ours", "3": "theirs" };

function nameOfSide(path: Buffer, stage: string, taken: Set<string>): Buffer {
  let name = `${path.toString("latin1")}.${sideNames[stage] ?? stage}`;
  while (taken.has(name)) name += "~";
  taken.add(name);
  return Buffer.from(name, "latin1");
}

/** Whether a tree has content that the other trees do not have under any name. */
export async function hasMore(control: ControlGit, tree: string, others: readonly string[]): Promise<boolean> {
  const blobs = ["--objects", "--no-object-names", "--filter=object:type=blob", "--filter-provided-objects"];
  const { stdout } = await control.git(["rev-list", ...blobs, tree, "--not", ...others], { isLong: true });
  return stdout.length > 0;
}
