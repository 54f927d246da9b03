import { createHash } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ControlGit } from "../control/control-git.ts";
import { entryAt } from "../entry-at.ts";
import { joinNul, splitNul } from "../file-name.ts";
import type { GitPlace } from "../git-runner.ts";
import type { Workspace } from "./workspace.ts";

export interface IndexEntry {
  readonly mode: string;
  readonly id: string;
  /** Not 0 where a merge has not been ended. */
  readonly stage: string;
  readonly path: Buffer;
  /** As `ls-files -v` has it: `S` where the file need not be there, lower case where changes are not to be noticed. */
  readonly tag: string;
}

/**
 * Gives the draft a copy of the workspace's index: then only files are read that have changed, and what was staged is
 * known. Where it is broken, or names what no index may name, the draft begins with the files of HEAD.
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

const mostBytes = 512 * 1024 * 1024;

function copyIndex({ gitFolder }: Workspace, draft: string): void {
  const path = join(gitFolder, "index");
  const found = entryAt(path);
  if (!found?.isFile() || found.size > mostBytes) return;
  const bytes = readFileSync(path);
  if (!isSound(bytes)) return;
  const copy = join(draft, "index");
  writeFileSync(copy, bytes);
  // Git trusts a time in the index only if it is older than the index itself. Too old a copy costs a look at a file;
  // one that looks newer than the original would hide changes.
  const seconds = Math.floor(found.mtimeMs / 1000) - 1;
  utimesSync(copy, seconds, seconds);
  // An index may have its greater part in a second file.
  for (const name of readdirSync(gitFolder).filter((each) => /^sharedindex\.[0-9a-f]+$/.test(each))) {
    if (entryAt(join(gitFolder, name))?.isFile()) copyFileSync(join(gitFolder, name), join(draft, name));
  }
}

/** Git does not look at the checksum when it reads. Some write zeros instead, to be faster. */
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

/** Git itself checks names when they come in, but believes those that are in. */
function isInside(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== ".." && part.toLowerCase() !== ".git");
}

/** Files that git was told to overlook may have changed all the same. Those that are left out on purpose stay as they are. */
async function noticeEverything(control: ControlGit, draft: GitPlace, entries: readonly IndexEntry[]): Promise<void> {
  const isThere = ({ path }: IndexEntry) =>
    entryAt(Buffer.concat([Buffer.from(`${draft.folder}/`), path])) !== undefined;
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
