import type { Conflict } from "../../../ports/control-repository.ts";
import { checkCommit } from "../check-names.ts";
import type { ControlGit } from "./control-git.ts";
import { knownTrees } from "./known-trees.ts";
import { createTrunk, readHistory, type Trunk } from "./merge-bases.ts";
import { mergeTree } from "./merge-tree.ts";
import { openReader } from "./read-objects.ts";
import { mergeTrees, type Trees } from "./tree-merge.ts";

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
  const { treeOf, readTree } = knownTrees((id) => reader.read(id));
  // Whether there is a result is all that is asked.
  const trees: Trees = { read: readTree, write: () => "" };
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
