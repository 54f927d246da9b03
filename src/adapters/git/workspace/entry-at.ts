import { lstatSync, type Stats } from "node:fs";
import { readdir } from "node:fs/promises";

/** What is at a path, without following a link; undefined where nothing is. Done at once: another thread takes longer. */
export async function entryAt(path: string | Buffer): Promise<Stats | undefined> {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR" || code === "ENAMETOOLONG") return undefined;
    throw error;
  }
}

export async function isFolder(path: string | Buffer): Promise<boolean> {
  return (await entryAt(path))?.isDirectory() ?? false;
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
