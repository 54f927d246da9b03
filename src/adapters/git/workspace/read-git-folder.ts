import { closeSync, constants, fstatSync, lstatSync, openSync, read, readSync } from "node:fs";
import { join, normalize } from "node:path";
import { promisify } from "node:util";
import { isObjectId } from "../check-names.ts";

/** Where git keeps what belongs to one working copy, and what it shares with others: the same folder in a clone. */
export interface GitFolders {
  readonly gitFolder: string;
  readonly commonFolder: string;
}

export interface Head {
  /** Undefined where HEAD is a commit. */
  readonly branch: string | undefined;
  /** Undefined where the branch has no commit yet. */
  readonly commit: string | undefined;
}

/**
 * Undefined where the files do not tell: HEAD is broken, or the repository keeps its refs in another form. Nothing runs,
 * and no link is followed.
 */
export async function readHead({ gitFolder, commonFolder }: GitFolders): Promise<Head | undefined> {
  const text = (await readSmall(join(gitFolder, "HEAD")))?.trimEnd();
  if (text === undefined) return undefined;
  if (isObjectId(text)) return /^0+$/.test(text) ? undefined : { branch: undefined, commit: text };
  const [, branch] = /^ref: refs\/heads\/(.+)$/.exec(text) ?? [];
  if (branch === undefined || branch === ".invalid") return undefined;
  return { branch, commit: await readRef(commonFolder, `refs/heads/${branch}`) };
}

/** Undefined where there is no such ref. */
export async function readRef(commonFolder: string, ref: string): Promise<string | undefined> {
  const found = await lookForRef(commonFolder, ref);
  return found.kind === "there" ? found.id : undefined;
}

/** `unknown` where the files do not tell, which is no proof that there is no such ref. */
export async function lookForRef(
  commonFolder: string,
  ref: string,
): Promise<{ readonly kind: "there"; readonly id: string } | { readonly kind: "absent" | "unknown" }> {
  // A name that leads elsewhere is none, whoever wrote it.
  if (normalize(ref) !== ref || ref.startsWith("/")) return { kind: "unknown" };
  const loose = await readFileAt(join(commonFolder, ref), mostLoose);
  const text = typeof loose === "string" ? "" : loose.toString("utf8").trim();
  if (isObjectId(text)) return { kind: "there", id: text };
  const packed = await readFileAt(join(commonFolder, "packed-refs"), mostPacked);
  const lines = typeof packed === "string" ? [] : packed.toString("utf8").split("\n");
  const [id = ""] = lines.find((each) => each.endsWith(` ${ref}`))?.split(" ") ?? [];
  if (isObjectId(id)) return { kind: "there", id };
  const isRead = loose === "none" && (packed === "none" || typeof packed !== "string");
  // Newer gits can keep their refs in another form.
  const isSure = isRead && (await readFileAt(join(commonFolder, "reftable"), 0)) === "none";
  return { kind: isSure ? "absent" : "unknown" };
}

const mostLoose = 64 * 1024;

const mostPacked = 256 * 1024 * 1024;

/** A file's text; undefined where there is none, or something that is no file, a link, or too large to be what it should. */
export async function readSmall(path: string, most = mostLoose): Promise<string | undefined> {
  const bytes = await readFileAt(path, most);
  return bytes === "none" || bytes === "other" || bytes === "too-large" ? undefined : bytes.toString("utf8");
}

/**
 * What is no file, such as a link or a device, is `other`: reading from it may lead anywhere, or never end. A small one is
 * read at once: to hand it to another thread and back takes this one ten times as long.
 */
export async function readFileAt(path: string, most: number): Promise<Buffer | "none" | "other" | "too-large"> {
  let handle: number | undefined;
  try {
    // Most that are looked for are not there, and an error takes longer than a look.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return "none";
    handle = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = fstatSync(handle);
    if (!found.isFile()) return "other";
    if (found.size > most) return "too-large";
    const buffer = Buffer.alloc(found.size);
    if (found.size <= mostAtOnce) return buffer.subarray(0, readSync(handle, buffer, 0, found.size, 0));
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

const mostAtOnce = 256 * 1024;
const readLater = promisify(read);
