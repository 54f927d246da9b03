import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault } from "./fault.ts";

interface Writing {
  /** Permissions, regardless of the umask. "kept": those of the replaced file. By default the umask decides. */
  readonly mode?: number | "kept";
  /** Writes the target of a link. By default the link itself is replaced, because an agent may have created it. */
  readonly followsLinks?: boolean;
  /** False: an existing file stays, and the result is false. */
  readonly replace?: boolean;
  /**
   * Replaces only a file with exactly this text; otherwise, or if the file is missing, the result is false. The old
   * file is read again after the rename, so that text which another program wrote at that moment is restored.
   */
  readonly before?: string;
  /**
   * False: atomic, but not durable. For files that are useless after a power cut or created again: fsync is nearly the
   * whole cost of a small file, and a prepared workspace has many.
   */
  readonly fsync?: boolean;
}

/**
 * Writes a file atomically and durably: temporary file, fsync, rename, fsync of the folder. Readers see the old file or
 * the new one. The folder must exist. False if the options kept the existing file.
 */
export async function writeWhole(path: string, text: string | Uint8Array, options: Writing = {}): Promise<boolean> {
  const { fsync = true } = options;
  const { file, draft, mode } = planOf(path, options);
  try {
    const handle = await open(draft, "wx", mode);
    try {
      // `open` applies the umask to its mode, chmod does not.
      if (mode !== undefined) await handle.chmod(mode);
      await handle.writeFile(text);
      if (fsync) await handle.sync();
    } finally {
      await handle.close();
    }
    const isPlaced = place(draft, file, options);
    if (fsync) await syncFolder(dirname(file));
    return isPlaced;
  } finally {
    remove(draft);
  }
}

/** The same synchronously, for programs that have no other work meanwhile. */
export function writeWholeSync(path: string, text: string | Uint8Array, options: Writing = {}): boolean {
  const { fsync = true } = options;
  const { file, draft, mode } = planOf(path, options);
  try {
    const descriptor = openSync(draft, "wx", mode);
    try {
      if (mode !== undefined) fchmodSync(descriptor, mode);
      writeFileSync(descriptor, text);
      if (fsync) fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    const isPlaced = place(draft, file, options);
    if (fsync) syncFolderSync(dirname(file));
    return isPlaced;
  } finally {
    remove(draft);
  }
}

/** `writeWholeSync` for the user's own files, with errors for people: links are followed, permissions kept. */
export function publishFile(path: string, text: string, options: Pick<Writing, "mode" | "replace"> = {}): void {
  const { mode = "kept", replace = true } = options;
  let isPlaced: boolean;
  try {
    isPlaced = writeWholeSync(path, text, { mode, replace, followsLinks: replace });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The whole path: a person who reads the message may be in another folder than the daemon.
    throw new Fault("unwritable", `${path} cannot be written (${code}).`, {
      hint: "Check SIGNALBOX_HOME, the folder's permissions and the free space.",
      cause: error,
    });
  }
  if (!isPlaced) throw new Fault("exists", `${path} exists already.`);
}

/** Fsyncs a folder, so that a name in it survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } catch (error) {
    if (!cannotSync(error)) throw error;
  } finally {
    await handle.close();
  }
}

export function syncFolderSync(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } catch (error) {
    if (!cannotSync(error)) throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** The same for a folder that another program may have deleted: then there is nothing to fsync. */
export async function syncFolderIfThere(folder: string): Promise<void> {
  try {
    await syncFolder(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** A unique name for a draft beside a file. It contains the file's name and the writer's pid. */
export function draftOf(path: string): string {
  return `${path}.${process.pid}-${Math.floor(Math.random() * 2 ** 48).toString(16)}${draftEnding}`;
}

const draftEnding = ".draft";

/** The writer of a draft of this file, or of its old file kept aside; undefined if the name is neither. */
export function writerOf(name: string, file: string): { readonly pid: number; readonly isOld: boolean } | undefined {
  const [, of, pid, old] = /^(.+)\.(\d+)-[0-9a-f]+(-before)?\.draft$/.exec(name) ?? [];
  return of === file ? { pid: Number(pid), isOld: old !== undefined } : undefined;
}

/** Gives a draft its final name, unless that is taken. Only one of several concurrent writers succeeds. */
export function linkFirst(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

interface Plan {
  readonly file: string;
  readonly draft: string;
  readonly mode: number | undefined;
}

function planOf(path: string, { mode, followsLinks = false }: Writing): Plan {
  const file = followsLinks ? targetOf(path) : path;
  const asked = mode === "kept" ? modeOf(file) : mode;
  return { file, draft: draftOf(file), mode: asked === undefined ? undefined : asked & 0o777 };
}

function place(draft: string, file: string, { replace = true, before }: Writing): boolean {
  if (!replace) return linkFirst(draft, file);
  if (before !== undefined) return replaceOnly(Buffer.from(before), draft, file);
  renameSync(draft, file);
  return true;
}

function replaceOnly(before: Buffer, draft: string, file: string): boolean {
  // Named like a draft, which git ignores beside task files: this process may be killed before it deletes the file.
  const aside = `${draft.slice(0, -draftEnding.length)}-before${draftEnding}`;
  try {
    linkSync(file, aside);
    if (!hasBytes(aside, before)) return false;
    renameSync(draft, file);
    if (hasBytes(aside, before)) return true;
    renameSync(aside, file);
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  } finally {
    remove(aside);
  }
}

/** For plain files only: reading a pipe may never end. */
function hasBytes(path: string, bytes: Buffer): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = fstatSync(descriptor);
    return found.isFile() && found.size === bytes.length && readFileSync(descriptor).equals(bytes);
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Ignores errors, so that the original error is not hidden. */
function remove(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {}
}

function targetOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function modeOf(file: string): number | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  // A dangling link has no target whose permissions could be kept.
  return found?.isFile() ? found.mode : undefined;
}

/** Some file systems cannot fsync folders. */
function cannotSync(error: unknown): boolean {
  return ["EINVAL", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code ?? "");
}
