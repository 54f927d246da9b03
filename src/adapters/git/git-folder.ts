import { closeSync, constants, fstatSync, lstatSync, openSync, read, readdirSync, readSync } from "node:fs";
import { readdir, readFile, readlink, realpath } from "node:fs/promises";
import { basename, dirname, join, normalize, resolve, sep } from "node:path";
import { promisify } from "node:util";
import { Fault } from "../../fault.ts";
import { createMemo } from "../../keyed.ts";
import { entryIfSeen, isFolder, namesIn, pathIn } from "./file-entries.ts";
import { isObjectId } from "./names.ts";
import type { RunGit } from "./runner.ts";

/**
 * The refs below a prefix such as `refs/heads/`, by the rest of their names, one character for each byte. Runs nothing
 * and follows no link. Undefined if the files are not conclusive: then the caller must ask git.
 */
export async function listRefs(commonFolder: string, folder: string): Promise<ReadonlyMap<string, string> | undefined> {
  if (entryIfSeen(join(commonFolder, "reftable")) !== undefined) return undefined;
  const loose = new Map<string, string>();
  if (!(await readLoose(Buffer.from(join(commonFolder, folder)), "", loose))) return undefined;
  // Read after the loose refs: a ref that git packs in between is found in one of the two.
  const packed = await readPacked(commonFolder, folder);
  return packed && new Map([...new Map([...packed, ...loose])].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** False if the folder contains something that is not a plain ref. */
async function readLoose(folder: Buffer, above: string, into: Map<string, string>): Promise<boolean> {
  for (const entry of entriesIn(folder)) {
    const name = `${above}${entry.name.toString("latin1")}`;
    const path = Buffer.concat([folder, Buffer.from("/"), entry.name]);
    if (entry.isDirectory()) {
      if (!(await readLoose(path, `${name}/`, into))) return false;
      continue;
    }
    // A git process is about to write this ref; until then it has its old value.
    if (name.endsWith(".lock")) continue;
    const id = entry.isFile() && isRefName(name) ? await readId(path) : "";
    if (id === undefined) continue;
    if (id === "") return false;
    into.set(name, id);
  }
  return true;
}

/** Undefined if the file is gone by now, empty if it contains no id. */
async function readId(path: Buffer): Promise<string | undefined> {
  const text = path.toString("utf8");
  // `readSmall` takes a string, so it cannot open a name that is not valid UTF-8.
  if (!Buffer.from(text).equals(path)) return "";
  const content = await readSmall(text);
  if (content === undefined) return entryIfSeen(path) === undefined ? undefined : "";
  return isObjectId(content.trim()) ? content.trim() : "";
}

async function readPacked(commonFolder: string, folder: string): Promise<ReadonlyMap<string, string> | undefined> {
  const path = join(commonFolder, "packed-refs");
  const refs = new Map<string, string>();
  if (entryIfSeen(path) === undefined) return refs;
  const bytes = await readFileAt(path, maxPackedSize);
  if (typeof bytes === "string") return undefined;
  for (const line of bytes.toString("latin1").split("\n")) {
    const [id = "", ref = ""] = splitOnce(line);
    if (!ref.startsWith(folder) || line.startsWith("#") || line.startsWith("^")) continue;
    const name = ref.slice(folder.length);
    if (!isObjectId(id) || !isRefName(name)) return undefined;
    refs.set(name, id);
  }
  return refs;
}

const maxPackedSize = 64 * 1024 * 1024;

/** Slightly stricter than git's own rules for names of refs. */
function isRefName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them.
  return !/[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|(^|\/)[.-]|\.lock(\/|$)|[./]$|^@$/.test(name);
}

function entriesIn(folder: Buffer) {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  } catch (error) {
    // Git removes empty folders of refs.
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf(" ");
  return [line.slice(0, at), line.slice(at + 1)];
}

/** The git processes that run in one of the folders; undefined if the system does not list processes. */
export async function livingGit(folders: readonly string[]): Promise<readonly number[] | undefined> {
  const names = await readdir("/proc").catch(() => undefined);
  const pids = names?.filter((name) => /^\d+$/.test(name)).map(Number);
  if (pids === undefined || pids.length === 0) return undefined;
  const living: number[] = [];
  for (const pid of pids) if (await isGitIn(pid, folders)) living.push(pid);
  return living;
}

async function isGitIn(pid: number, folders: readonly string[]): Promise<boolean> {
  try {
    if (!(await readFile(`/proc/${pid}/comm`, "utf8")).startsWith("git")) return false;
    const cwd = await readlink(`/proc/${pid}/cwd`);
    return folders.some((folder) => cwd === folder || cwd.startsWith(folder + sep));
  } catch {
    // The process has ended meanwhile, or belongs to another user.
    return false;
  }
}

/** The git folder of one working copy, and the one that all worktrees share. In a clone both are the same. */
export interface GitFolders {
  readonly gitFolder: string;
  readonly commonFolder: string;
}

export interface Head {
  /** Undefined if HEAD is detached. */
  readonly branch: string | undefined;
  /** Undefined if the branch has no commit yet. */
  readonly commit: string | undefined;
}

/**
 * Undefined if the files are not conclusive: HEAD is broken, or the repository uses another ref format. Runs nothing
 * and follows no link.
 */
export async function readHead({ gitFolder, commonFolder }: GitFolders): Promise<Head | undefined> {
  const text = (await readSmall(join(gitFolder, "HEAD")))?.trimEnd();
  if (text === undefined) return undefined;
  if (isObjectId(text)) return /^0+$/.test(text) ? undefined : { branch: undefined, commit: text };
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(text) ?? [];
  if (branch === undefined || branch === ".invalid") return undefined;
  return { branch, commit: await readRef(commonFolder, `refs/heads/${branch}`) };
}

/** Undefined if the files show no such ref. */
export async function readRef(commonFolder: string, ref: string): Promise<string | undefined> {
  const found = await lookForRef(commonFolder, ref);
  return found.kind === "there" ? found.id : undefined;
}

/** `unknown` if the files are not conclusive: the ref may still exist. */
export async function lookForRef(
  commonFolder: string,
  ref: string,
): Promise<{ readonly kind: "there"; readonly id: string } | { readonly kind: "absent" | "unknown" }> {
  // A name with `..` could leave the folder.
  if (normalize(ref) !== ref || ref.startsWith("/")) return { kind: "unknown" };
  const loose = await readFileAt(join(commonFolder, ref), maxLooseSize);
  const text = typeof loose === "string" ? "" : loose.toString("utf8").trim();
  if (isObjectId(text)) return { kind: "there", id: text };
  const packed = await readFileAt(join(commonFolder, "packed-refs"), maxPackedRefsSize);
  const lines = typeof packed === "string" ? [] : packed.toString("utf8").split("\n");
  const [id = ""] = lines.find((each) => each.endsWith(` ${ref}`))?.split(" ") ?? [];
  if (isObjectId(id)) return { kind: "there", id };
  const isRead = loose === "none" && (packed === "none" || typeof packed !== "string");
  // Newer versions of git can store refs as a reftable.
  const isSure = isRead && (await readFileAt(join(commonFolder, "reftable"), 0)) === "none";
  return { kind: isSure ? "absent" : "unknown" };
}

const maxLooseSize = 64 * 1024;

const maxPackedRefsSize = 256 * 1024 * 1024;

/** A file's text; undefined if it does not exist, is not a regular file, is a link, or is larger than `most` bytes. */
export async function readSmall(path: string, most = maxLooseSize): Promise<string | undefined> {
  const bytes = await readFileAt(path, most);
  return bytes === "none" || bytes === "other" || bytes === "too-large" ? undefined : bytes.toString("utf8");
}

/**
 * Returns `other` for a link, a device or the like: reading it may leave the folder, or never end. Small files are read
 * synchronously, because the thread pool takes ten times as long.
 */
export async function readFileAt(path: string, most: number): Promise<Buffer | "none" | "other" | "too-large"> {
  let handle: number | undefined;
  try {
    // Most of these files do not exist, and an exception takes longer than lstat.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return "none";
    handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = fstatSync(handle);
    if (!found.isFile()) return "other";
    if (found.size > most) return "too-large";
    const buffer = Buffer.alloc(found.size);
    if (found.size <= maxSyncRead) return buffer.subarray(0, readSync(handle, buffer, 0, found.size, 0));
    const { bytesRead } = await readLater(handle, buffer, 0, found.size, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "none";
    if (code === "ELOOP" || code === "ENXIO" || code === "EISDIR" || code === "EACCES") return "other";
    throw error;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

const maxSyncRead = 256 * 1024;
const readLater = promisify(read);

/** Tells whether everything above a path inside `folder` is a real folder, not a link. */
export function realFolders(folder: string): (path: Uint8Array) => Promise<boolean> {
  const known = createMemo<boolean>();
  const isReal = (path: Buffer): Promise<boolean> => {
    const slash = path.lastIndexOf("/");
    if (slash === -1) return Promise.resolve(true);
    const above = path.subarray(0, slash);
    return known.get(above.toString("latin1"), async () => (await isReal(above)) && isFolder(pathIn(folder, above)));
  };
  return (path) => isReal(Buffer.from(path));
}

/** The repository that the user works in. */
export interface UserRepository {
  readonly folder: string;
  /** The git folder of the working tree in `folder`; undefined if the repository is bare. */
  readonly gitFolder: string | undefined;
  /** The git folder that all of its worktrees share. */
  readonly commonFolder: string;
  /** The main worktree; undefined if the repository is bare. */
  readonly mainFolder: string | undefined;
}

/** Reads files instead of running git there, so that the repository's configuration has no influence. */
export async function findUserRepository(run: RunGit, repository: string): Promise<UserRepository> {
  const folder = await realpath(repository).catch(() => repository);
  const found = await findFolders(folder);
  if (found === undefined) throw none(folder);
  const { gitFolder, commonFolder } = found;
  if (isFolder(join(commonFolder, "reftable"))) throw otherForm(folder);
  const { stdout } = await run(
    { folder: commonFolder, gitDir: commonFolder, configuration: "ours" },
    ["config", "--file", join(commonFolder, "config"), "--no-includes", "--type=bool", "--get", "core.bare"],
    { accepts: [0, 1, 128] },
  );
  const isBare = stdout.toString("latin1").trim() === "true";
  const mainFolder = basename(commonFolder) === ".git" ? dirname(commonFolder) : folder;
  return { folder, gitFolder, commonFolder, mainFolder: isBare ? undefined : mainFolder };
}

/** Undefined if there is no repository. */
export async function findFolders(
  folder: string,
): Promise<Pick<UserRepository, "gitFolder" | "commonFolder"> | undefined> {
  const dotGit = join(folder, ".git");
  // `.git` may be a link; git follows it too.
  const real = await realpath(dotGit).catch(() => dotGit);
  const [, named] = /^gitdir: ([\s\S]+?)\n*$/.exec((await readSmall(real)) ?? "") ?? [];
  const gitFolder = named === undefined ? real : await realpath(resolve(folder, named)).catch(() => real);
  if (isFolder(gitFolder)) {
    const common = (await readSmall(join(gitFolder, "commondir")))?.trim();
    if (common === undefined) return { gitFolder, commonFolder: gitFolder };
    const commonFolder = await realpath(resolve(gitFolder, common)).catch(() => undefined);
    return commonFolder === undefined ? undefined : { gitFolder, commonFolder };
  }
  const isBare = isFolder(join(folder, "objects")) && isFolder(join(folder, "refs"));
  return isBare ? { gitFolder: undefined, commonFolder: folder } : undefined;
}

function none(folder: string): Fault {
  return new Fault("git.not-a-repository", `${folder} is not a git repository, and does not lead to one.`, {
    hint: "Find out where the repository is now, and update the project.",
  });
}

function otherForm(folder: string): Fault {
  return new Fault("git.reftable", `${folder} stores its refs as a reftable, which is not supported.`, {
    hint: "Convert them to files: git refs migrate --ref-format=files",
  });
}

/** Git's record of one worktree: a folder in `worktrees/` of the repository. */
export interface WorktreeEntry {
  readonly name: string;
  readonly path: string;
  /** The folder of the worktree, according to the record. */
  readonly folder: string;
  /** Why the worktree is locked; undefined if it is not. While git creates a worktree, this is `initializing`. */
  readonly lock: string | undefined;
}

/** The record of a worktree in `folder`. `known` is the record's name at the last search. */
export async function findEntry(
  commonFolder: string,
  folder: string,
  known: string | undefined,
): Promise<WorktreeEntry | undefined> {
  const entries = join(commonFolder, "worktrees");
  const names = await namesIn(entries);
  const first = known !== undefined && names.includes(known) ? [known] : [];
  for (const name of [...first, ...names]) {
    const entry = await readEntry(commonFolder, name);
    if (entry?.folder === folder) return entry;
  }
  return undefined;
}

/** Undefined if the record names no folder. */
export async function readEntry(commonFolder: string, name: string): Promise<WorktreeEntry | undefined> {
  const path = join(commonFolder, "worktrees", name);
  const dotGit = (await readSmall(join(path, "gitdir")))?.replace(/\n$/, "");
  if (dotGit === undefined || basename(dotGit) !== ".git") return undefined;
  return { name, path, folder: dirname(dotGit), lock: (await readSmall(join(path, "locked")))?.trimEnd() };
}

/** Records that a killed `git worktree add` for this folder left behind before it wrote the folder's path into them. */
export async function namelessEntries(commonFolder: string, folder: string): Promise<readonly string[]> {
  const entries = join(commonFolder, "worktrees");
  const nameless: string[] = [];
  for (const name of await namesIn(entries)) {
    const [, end] = name.startsWith(basename(folder)) ? [name, name.slice(basename(folder).length)] : [name, "other"];
    if (!/^\d*$/.test(end)) continue;
    const path = join(entries, name);
    const inside = await namesIn(path);
    if (inside.every((each) => each === "locked") && (await readSmall(join(path, "locked"))) === "initializing\n")
      nameless.push(path);
  }
  return nameless;
}
