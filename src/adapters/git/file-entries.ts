import { lstatSync, type Stats, statSync } from "node:fs";
import { readdir } from "node:fs/promises";

/**
 * The file, folder or link at a path, without following a link; undefined where nothing is. A path that may not be looked at
 * is an error. Synchronous: another thread takes longer.
 */
export function entryAt(path: string | Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR" || code === "ENAMETOOLONG") return undefined;
    throw error;
  }
}

/** The same, but undefined also where it may not be looked at: for salvage and messages, which go on without it. */
export function entryIfSeen(path: string | Buffer): Stats | undefined {
  return quietly(() => lstatSync(path));
}

/** The same for the target of a link. */
export function targetAt(path: string): Stats | undefined {
  return quietly(() => statSync(path));
}

export function isFolder(path: string | Buffer): boolean {
  return entryAt(path)?.isDirectory() ?? false;
}

/** No names where there is no folder. */
export async function namesIn(folder: string | Buffer): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}

/** A path inside of a folder, whose name may be any bytes. */
export function pathIn(folder: string | Buffer, name: string | Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(folder as string), Buffer.from("/"), Buffer.from(name as string)]);
}

function quietly(look: () => Stats): Stats | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
