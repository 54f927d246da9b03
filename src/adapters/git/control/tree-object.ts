/** A folder as git stores it. Names are bytes, one character each. */
export type Tree = ReadonlyMap<string, TreeEntry>;

export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

export const folderMode = "40000";

/** Files, programs, links, submodules. */
const knownModes = new Set(["100644", "100755", "120000", "160000", folderMode]);

/**
 * Undefined where git would write the same folder with other bytes: old programs have left other modes, another order or
 * empty folders behind.
 */
export function readTree(bytes: Buffer, idLength: number): Tree | undefined {
  const tree = new Map<string, TreeEntry>();
  const size = idLength / 2;
  let last = "";
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    if (space === -1 || end === -1 || end + 1 + size > bytes.length) return undefined;
    const mode = bytes.toString("latin1", at, space);
    const name = bytes.toString("latin1", space + 1, end);
    at = end + 1 + size;
    const id = bytes.toString("hex", end + 1, at);
    const key = sortKey(name, mode);
    const isPlain = knownModes.has(mode) && name !== "" && key > last && !tree.has(name) && !emptyTrees.has(id);
    if (!isPlain) return undefined;
    tree.set(name, { mode, id });
    last = key;
  }
  return tree;
}

export function writeTree(tree: Tree): Buffer {
  const sorted = [...tree].map(([name, entry]) => ({ key: sortKey(name, entry.mode), name, entry }));
  sorted.sort((a, b) => (a.key < b.key ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(({ name, entry: { mode, id } }) => [
      Buffer.from(`${mode} ${name}\0`, "latin1"),
      Buffer.from(id, "hex"),
    ]),
  );
}

/** Git sorts folders as if their names ended with a slash. */
function sortKey(name: string, mode: string): string {
  return mode === folderMode ? `${name}/` : name;
}

/** By the length of ids. Git knows them without having them. */
const emptyTrees = new Set([
  "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
]);
