import { readTree, type Tree } from "./tree-object.ts";

/** The folders of commits, each of which is read once. */
export interface KnownTrees {
  treeOf(commit: string): Promise<string>;
  /** Undefined where it is not as git would write it. */
  readTree(id: string): Promise<Tree | undefined>;
}

export function knownTrees(contentOf: (id: string) => Promise<Buffer>): KnownTrees {
  const trees = new Map<string, Promise<Tree | undefined>>();
  return {
    async treeOf(commit) {
      const start = "tree ".length;
      return (await contentOf(commit)).toString("latin1", start, start + commit.length);
    },
    readTree(id) {
      const known = trees.get(id) ?? contentOf(id).then((content) => readTree(content, id.length));
      trees.set(id, known);
      return known;
    },
  };
}
