import { folderMode, type Tree, type TreeEntry } from "./tree-object.ts";

/** Where folders come from, and where new ones go. */
export interface Trees {
  /** Undefined where it is not as git would write it. */
  read(id: string): Promise<Tree | undefined>;
  /** Gives the id. */
  write(tree: Tree): string;
}

/**
 * Merges folders of which each entry was changed on one side at most, and gives the id of the new one. Undefined where
 * that is in doubt: only git knows what becomes of something that both sides have changed.
 *
 * Renames need no thought here. Git follows one only where the other side has changed what was renamed, or has put
 * something into a folder that went away: then both have changed the same entry. That is also why something that both
 * have deleted is in doubt: each may have moved it to another place.
 */
export async function mergeTrees(
  trees: Trees,
  base: string,
  ours: string,
  theirs: string,
): Promise<string | undefined> {
  if (theirs === base) return ours;
  if (ours === base) return theirs;
  const merged = await mergeFolders(trees, base, ours, theirs);
  return merged && trees.write(merged);
}

/**
 * Reads the folders that they have changed, and what those are on the other side: all of one depth at once, so that
 * nobody waits for one after the other.
 */
export async function readAhead(
  trees: Trees,
  baseId: string,
  oursId: string | undefined,
  theirsId: string,
): Promise<void> {
  const read = [trees.read(baseId), oursId === undefined ? nothing : trees.read(oursId), trees.read(theirsId)] as const;
  const [base, ours, theirs] = await Promise.all(read);
  if (base === undefined || theirs === undefined) return;
  const below = [...theirs].map(([name, entry]) => {
    const [before, other] = [base.get(name), ours?.get(name)];
    if (!isFolder(entry) || before === undefined || !isFolder(before) || isSame(before, entry)) return undefined;
    return readAhead(trees, before.id, other && isFolder(other) ? other.id : undefined, entry.id);
  });
  await Promise.all(below);
}

async function mergeFolders(
  trees: Trees,
  baseId: string | undefined,
  oursId: string,
  theirsId: string,
): Promise<Tree | undefined> {
  const read = [baseId === undefined ? nothing : trees.read(baseId), trees.read(oursId), trees.read(theirsId)] as const;
  const [base, ours, theirs] = await Promise.all(read);
  if (base === undefined || ours === undefined || theirs === undefined) return undefined;
  const changed = [...new Set([...base.keys(), ...theirs.keys()])].filter(
    (name) => !isSame(base.get(name), theirs.get(name)),
  );
  const answers = await Promise.all(
    changed.map((name) => mergeEntries(trees, base.get(name), ours.get(name), theirs.get(name))),
  );
  const merged = new Map(ours);
  for (const [index, name] of changed.entries()) {
    const answer = answers[index];
    if (answer === undefined) return undefined;
    if (answer === "gone") merged.delete(name);
    else merged.set(name, answer);
  }
  return merged;
}

const nothing: Promise<Tree> = Promise.resolve(new Map());

/** What becomes of an entry that they have changed. */
async function mergeEntries(
  trees: Trees,
  base: TreeEntry | undefined,
  ours: TreeEntry | undefined,
  theirs: TreeEntry | undefined,
): Promise<TreeEntry | "gone" | undefined> {
  // One that was a folder and is a file, or the other way round, has two meanings for git.
  const kinds = new Set([base, ours, theirs].filter((entry) => entry !== undefined).map(isFolder));
  if (kinds.size > 1) return undefined;
  if (isSame(base, ours)) return theirs ?? "gone";
  if (ours === undefined || theirs === undefined) return undefined;
  if (!isFolder(ours)) return isSame(ours, theirs) ? ours : undefined;
  const merged = await mergeFolders(trees, base?.id, ours.id, theirs.id);
  if (merged === undefined) return undefined;
  return merged.size === 0 ? "gone" : { mode: folderMode, id: trees.write(merged) };
}

function isSame(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

function isFolder({ mode }: TreeEntry): boolean {
  return mode === folderMode;
}
