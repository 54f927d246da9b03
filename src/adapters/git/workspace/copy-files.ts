import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, mkdir, realpath, rename, rm, symlink } from "node:fs/promises";
import { sep } from "node:path";
import { Fault } from "../../../fault.ts";
import type { CopiedFiles, CopyOrder } from "../../../ports/workspaces.ts";
import { entryAt, isFolder, pathIn } from "../file-entries.ts";
import { realFolders } from "../git-folder.ts";
import { fileName, splitNul } from "../names.ts";
import type { Files } from "./changes.ts";
import type { Workshop } from "./workshop.ts";

const maxFiles = 10_000;

/**
 * Copies untracked files from the user's folder into a workspace. Does not overwrite files that `index`, the
 * workspace's index, has.
 */
export async function copyFiles(
  shop: Workshop,
  files: Files,
  { folder, patterns, how, index }: CopyOrder & { readonly index: string },
): Promise<CopiedFiles> {
  const user = await shop.user();
  const copied: Buffer[] = [];
  const kept: Buffer[] = [];
  const refused: Buffer[] = [];
  const result = () => ({
    copied: copied.map(fileName),
    kept: kept.map(fileName),
    refused: refused.map(fileName),
  });
  const pathspecs = patterns.map(pathspec);
  if (user.gitFolder === undefined || pathspecs.length === 0) return result();
  const wanted = await untracked(shop, user.folder, user.gitFolder, pathspecs);
  const tracked = await trackedOf(shop, files, index, wanted);
  const isReal = realFolders(folder);
  for (const path of wanted) {
    const target = pathIn(folder, path);
    const source = await sourceOf(user.folder, path);
    if (source === undefined || tracked.has(path.toString("latin1"))) refused.push(path);
    else if ((await isReal(path)) && entryAt(target) !== undefined) kept.push(path);
    else if (!(await makeFolders(folder, path))) refused.push(path);
    else {
      await put(source, target, how);
      copied.push(path);
    }
  }
  return result();
}

function pathspec(pattern: string): string {
  const isBad =
    pattern === "" ||
    pattern.includes("\0") ||
    pattern.startsWith("/") ||
    pattern.split("/").some((part) => part === "..");
  if (!isBad && pattern !== ".git" && !pattern.startsWith(".git/")) return `:(top,glob)${pattern}`;
  throw new Fault("workspace.bad-pattern", `${JSON.stringify(pattern)} does not name files inside the repository.`, {
    hint: "Write it relative to the repository's root, without a slash in front.",
  });
}

/** Untracked files in the user's own folder, including ignored ones. */
async function untracked(
  { git }: Workshop,
  folder: string,
  gitDir: string,
  pathspecs: readonly string[],
): Promise<readonly Buffer[]> {
  // Listing names runs nothing from the repository's configuration.
  const place = { folder, gitDir, workTree: folder, configuration: "ours" } as const;
  const { stdout } = await git(place, ["ls-files", "-z", "--others", "--", ...pathspecs], { isLong: true });
  const names = splitNul(stdout);
  if (names.length <= maxFiles) return names;
  throw new Fault(
    "workspace.too-many-files",
    `The patterns match ${names.length} files; at most ${maxFiles} are copied.`,
    {
      hint: "Write patterns that match fewer files.",
    },
  );
}

async function trackedOf(
  { git }: Workshop,
  files: Files,
  index: string,
  paths: readonly Buffer[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const { stdout } = await git(files.place, ["ls-files", "-z", "--cached"], {
    env: { ...files.env, GIT_INDEX_FILE: index },
    settings: files.settings,
    isLong: true,
  });
  const wanted = new Set(paths.map((path) => path.toString("latin1")));
  const tracked = splitNul(stdout).map((path) => path.toString("latin1"));
  return new Set(tracked.filter((path) => wanted.has(path)));
}

/** The real path of the file; undefined if a link leads out of the repository, or to something that is not a file. */
async function sourceOf(folder: string, path: Buffer): Promise<Buffer | undefined> {
  const source = await realpath(pathIn(folder, path), { encoding: "buffer" }).catch(() => undefined);
  const inside = Buffer.from(folder + sep);
  if (source === undefined || !source.subarray(0, inside.length).equals(inside)) return undefined;
  return entryAt(source)?.isFile() ? source : undefined;
}

/** False if something that is not a folder is in the place of one. */
async function makeFolders(folder: string, path: Buffer): Promise<boolean> {
  for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
    const above = pathIn(folder, path.subarray(0, slash));
    if (isFolder(above)) continue;
    if (entryAt(above) !== undefined) return false;
    await mkdir(above);
  }
  return true;
}

/** Writes a draft and renames it, so that the target is always complete. */
async function put(source: Buffer, target: Buffer, how: CopyOrder["how"]): Promise<void> {
  if (how === "link") return symlink(source, target);
  const draft = Buffer.concat([target, Buffer.from(`.${randomBytes(4).toString("hex")}.draft`)]);
  try {
    await copyFile(source, draft, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
}
