import { chmodSync, lstatSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Places } from "./places.ts";

/**
 * Restricts a home's own files to the user: an earlier version, a person or another program may have created them with
 * the umask's permissions. Follows no link. Returns the paths whose permissions could not be changed.
 */
export function restrictHome(places: Places): readonly string[] {
  const { database, storeNote, humanToken, surroundings, trusted } = places;
  const files = [database, `${database}-wal`, `${database}-shm`, storeNote, humanToken, surroundings, trusted];
  return [
    ...files.flatMap((file) => restrict(file, 0)),
    // How deep: below a private folder nothing is reachable, and the trash contains whole workspaces.
    ...restrict(places.run, 1),
    ...restrict(places.backups, 1),
    ...restrict(places.setAside, 2),
    ...restrict(places.logs, 2),
    ...restrict(places.runs, 2),
    ...restrict(places.trash, 2),
    ...[dirname(places.socket), dirname(places.terminal)].flatMap((folder) => restrict(folder, 0)),
  ];
}

const others = 0o077;

function restrict(path: string, depth: number): readonly string[] {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink()) return [];
    if ((found.mode & others) !== 0) chmodSync(path, found.mode & 0o7777 & ~others);
    if (!found.isDirectory() || depth === 0) return [];
    return readdirSync(path).flatMap((name) => restrict(join(path, name), depth - 1));
  } catch (error) {
    // Another process may have deleted it meanwhile.
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? [] : [path];
  }
}
