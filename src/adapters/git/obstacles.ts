import { type Dirent, readdirSync, type Stats } from "node:fs";
import { entryAt, pathIn } from "./file-entries.ts";
import { splitNul } from "./names.ts";

/** The flags of `diff-tree` whose output `treeChanges` reads. */
export const statusFlags = ["-r", "-z", "--no-renames", "--no-ext-diff", "--name-status"];

export interface TreeChange {
  readonly path: Buffer;
  readonly kind: "added" | "removed" | "changed";
}

/** What differs between two commits, from the output of `diff-tree`. */
export function treeChanges(stdout: Buffer): readonly TreeChange[] {
  const parts = splitNul(stdout);
  return parts.flatMap((path, index) => (index % 2 === 0 ? [] : [{ path, kind: kindOf(String(parts[index - 1])) }]));
}

function kindOf(letter: string): TreeChange["kind"] {
  if (letter === "A") return "added";
  return letter === "D" ? "removed" : "changed";
}

/** The names that a change removes, as `obstaclesTo` takes them. */
export function removedBy(changes: readonly TreeChange[]): ReadonlySet<string> {
  return new Set(changes.filter(({ kind }) => kind === "removed").map(({ path }) => path.toString("latin1")));
}

/** Whether a file replaces a folder with tracked files. */
export function replacesFolder(changes: readonly TreeChange[]): boolean {
  const added = new Set(changes.filter(({ kind }) => kind === "added").map(({ path }) => path.toString("latin1")));
  const isNewFile = (name: string): boolean => {
    const slash = name.lastIndexOf("/");
    return slash !== -1 && (added.has(name.slice(0, slash)) || isNewFile(name.slice(0, slash)));
  };
  return [...removedBy(changes)].some(isNewFile);
}

/**
 * What a new file would overwrite in a working copy, although git cannot restore it: something untracked in its place, or
 * in that of a folder above it. A tracked file that the same change removes makes room for a folder, and a folder with
 * nothing but such files makes room for a file. What may not be looked at is in the way.
 */
export function obstaclesTo(folder: string, path: Buffer, removed: ReadonlySet<string>): readonly Buffer[] {
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
    const above = path.subarray(0, at);
    const found = look(folder, above);
    if (found === undefined) return [];
    if (found === "unseen") return [path];
    if (!found.isDirectory()) return removed.has(above.toString("latin1")) ? [] : [path];
  }
  const found = look(folder, path);
  if (found === undefined) return [];
  if (found === "unseen" || !found.isDirectory()) return [path];
  const inside: Buffer[] = [];
  collect(folder, path, removed, inside);
  // In a folder of tracked files, only the name of the file says what to move away.
  const prefix = `${path.toString("latin1")}/`;
  const isTracked = inside.length > 0 && [...removed].some((name) => name.startsWith(prefix));
  return isTracked ? inside : inside.slice(0, 1).map(() => path);
}

// Messages name ten files.
const maxNames = 11;

function collect(folder: string, path: Buffer, removed: ReadonlySet<string>, into: Buffer[]): void {
  const entries = entriesIn(pathIn(folder, path));
  if (entries === undefined) into.push(path);
  for (const entry of entries ?? []) {
    if (into.length >= maxNames) return;
    const inside = pathIn(path, entry.name);
    if (entry.isDirectory()) collect(folder, inside, removed, into);
    else if (!removed.has(inside.toString("latin1"))) into.push(inside);
  }
}

/** Undefined if the folder may not be read. */
function entriesIn(folder: Buffer): readonly Dirent<Buffer>[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true, encoding: "buffer" });
  } catch {
    return undefined;
  }
}

function look(folder: string, path: Buffer): Stats | "unseen" | undefined {
  try {
    return entryAt(pathIn(folder, path));
  } catch {
    return "unseen";
  }
}
