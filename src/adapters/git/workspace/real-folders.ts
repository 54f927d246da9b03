import { isFolder, pathIn } from "./entry-at.ts";

/** Tells whether all folders above a path inside of `folder` are folders, and not links that lead elsewhere. */
export function realFolders(folder: string): (path: Uint8Array) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>();
  const isReal = (path: Buffer): Promise<boolean> => {
    const slash = path.lastIndexOf("/");
    if (slash === -1) return Promise.resolve(true);
    const above = path.subarray(0, slash);
    const key = above.toString("latin1");
    const found = known.get(key) ?? isReal(above).then((isFine) => isFine && isFolder(pathIn(folder, above)));
    known.set(key, found);
    return found;
  };
  return (path) => isReal(Buffer.from(path));
}
