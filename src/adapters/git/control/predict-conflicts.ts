import type { Conflict } from "../../../ports/control-repository.ts";
import { checkCommit } from "../check-names.ts";
import type { ControlGit } from "./control-git.ts";
import { createTrunk, readHistory, type Trunk } from "./merge-bases.ts";
import { mergeTree } from "./merge-tree.ts";
import { openReader } from "./read-objects.ts";
import { mergeTrees, type Trees } from "./tree-merge.ts";
import { readTree, type Tree } from "./tree-object.ts";

/** For fewer, asking git about each takes less time than finding out what is beyond doubt. */
const many = 4;

/** What a commit and each of the others would conflict in; undefined for those that it goes together with. */
export async function predictConflicts(
  control: ControlGit,
  commit: string,
  others: readonly string[],
): Promise<readonly (Conflict | undefined)[]> {
  const commits = [commit, ...others].map(checkCommit);
  const history = others.length < many ? undefined : await readHistory(control, commits);
  const trunk = history && createTrunk(history, commit);
  const isBeyondDoubt = await goTogether(control, trunk, commit, others);
  const found: (Conflict | undefined)[] = [];
  for (const [index, other] of others.entries()) {
    const merged = isBeyondDoubt[index] ? undefined : await mergeTree(control, commit, other);
    found.push(merged?.kind === "conflict" ? merged : undefined);
  }
  return found;
}

async function goTogether(
  control: ControlGit,
  trunk: Trunk | undefined,
  commit: string,
  others: readonly string[],
): Promise<readonly boolean[]> {
  if (trunk === undefined) return [];
  const reader = openReader(control);
  const known = new Map<string, Promise<Tree | undefined>>();
  const trees: Trees = {
    read(id) {
      const tree = known.get(id) ?? reader.read(id).then((content) => readTree(content, id.length));
      known.set(id, tree);
      return tree;
    },
    // Whether there is a result is all that is asked.
    write: () => "",
  };
  const treeOf = async (id: string) => {
    const start = "tree ".length;
    return (await reader.read(id)).toString("latin1", start, start + id.length);
  };
  try {
    return await Promise.all(
      others.map(async (other) => {
        const base = trunk.baseWith(other);
        if (base === undefined) return false;
        const [before = "", ours = "", theirs = ""] = await Promise.all([base, commit, other].map(treeOf));
        return (await mergeTrees(trees, before, ours, theirs)) !== undefined;
      }),
    );
  } finally {
    await reader.close();
  }
}
