import { folderMode, type Tree, type TreeEntry } from "./objects.ts";

/** Reads and writes tree objects. */
export interface Trees {
  /** Undefined if git would write the same tree with other bytes. */
  read(id: string): Promise<Tree | undefined>;
  /** Returns the id. */
  write(tree: Tree): string;
}

/**
 * Merges trees in which at most one side has changed each entry, and returns the id of the result. Undefined in any
 * other case: only git can merge an entry that both sides have changed.
 *
 * Renames need no special care. Git follows a rename only if the other side has changed the renamed file, or has added
 * something to a folder that was removed: then both sides have changed the same entry. For the same reason an entry
 * that both have deleted is left to git: each side may have moved it to another place.
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
 * Reads the trees that `theirs` has changed, and their counterparts on our side, all of one depth together instead of
 * one after the other.
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

/** The result for an entry that `theirs` has changed; undefined if only git can decide. */
async function mergeEntries(
  trees: Trees,
  base: TreeEntry | undefined,
  ours: TreeEntry | undefined,
  theirs: TreeEntry | undefined,
): Promise<TreeEntry | "gone" | undefined> {
  // Git handles a change between file and folder as two entries.
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
