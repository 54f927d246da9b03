import { Fault } from "../../../fault.ts";
import type { MergeOrder, MergeResult, RevertOrder, RevertResult } from "../../../ports/control-repository.ts";
import { commitTree } from "./commit-tree.ts";
import type { ControlGit } from "./control-git.ts";
import { checkWhole } from "./fetch-into.ts";
import { mergeTree } from "./merge-tree.ts";
import { isAncestor, treeOf } from "./read-history.ts";

export async function merge(control: ControlGit, order: MergeOrder): Promise<MergeResult> {
  const { onto, branch, strategy, message, author, date } = order;
  if (strategy === "ff") {
    if (await isAncestor(control, branch, onto)) return { kind: "up-to-date" };
    if (await isAncestor(control, onto, branch)) return { kind: "fast-forward", commit: branch };
    throw new Fault("git.diverged", `${branch} does not contain ${onto}, so nothing can be fast-forwarded.`, {
      hint: "Merge the default branch into the task's branch first, or use the strategy that makes a merge commit.",
    });
  }
  // Side by side: most of the time goes into starting processes, and nothing is lost where there was nothing to merge.
  const [isIn, merged] = await Promise.all([isAncestor(control, branch, onto), mergeTree(control, onto, branch)]);
  if (isIn) return { kind: "up-to-date" };
  if (merged.kind === "conflict") return merged;
  const { tree } = merged;
  const commit = await commitTree(control, { tree, parents: [onto, branch], message, author, date });
  await checkWhole(control, [commit]);
  return { kind: "merged", commit, tree };
}

/** What was published stays published: taking it back is one commit more. */
export async function revertMerge(control: ControlGit, order: RevertOrder): Promise<RevertResult> {
  const { onto, before, after, message, author, date } = order;
  if (!(await isAncestor(control, after, onto))) {
    throw new Fault("git.bad-ref", `${after} is not part of ${onto}, so it cannot be taken back there.`, {
      hint: "Look where the branch is now.",
    });
  }
  // A commit on top of the merge that has the files from before it: merging that takes back the merge, and only that.
  const tree = await treeOf(control, before);
  const undone = await commitTree(control, { tree, parents: [after], message, author, date });
  const merged = await mergeTree(control, onto, undone);
  if (merged.kind === "conflict") return merged;
  if (merged.tree === (await treeOf(control, onto))) return { kind: "up-to-date" };
  const commit = await commitTree(control, { tree: merged.tree, parents: [onto], message, author, date });
  await checkWhole(control, [commit]);
  return { kind: "reverted", commit, tree: merged.tree };
}
