import { setImmediate } from "node:timers/promises";
import type { MergeAllOrder, MergeAnswer, Prediction } from "../../../ports/control-repository.ts";
import { checkCommit } from "../check-names.ts";
import { commitText, commitTree, isPlain, type NewCommit } from "./commit-tree.ts";
import type { ControlGit } from "./control-git.ts";
import { type Drafts, openDrafts } from "./draft-objects.ts";
import { knownCommits } from "./known-commits.ts";
import { type KnownTrees, knownTrees } from "./known-trees.ts";
import { createTrunk, readHistory, type Trunk } from "./merge-bases.ts";
import { mergeTree } from "./merge-tree.ts";
import { isAncestor, noteCommit } from "./read-history.ts";
import { openReader } from "./read-objects.ts";
import { mergeTrees, readAhead, type Trees } from "./tree-merge.ts";
import { writeTree } from "./tree-object.ts";

/**
 * Most of the time of a merge goes into starting git and into making objects last. So what is beyond doubt is merged
 * here, without git, and everything is made to last once, in the end. Git merges the rest.
 */
export async function mergeAll(control: ControlGit, order: MergeAllOrder): Promise<readonly MergeAnswer[]> {
  const commits = [order.onto, ...order.entries.map(({ branch }) => branch)].map(checkCommit);
  const history = await readHistory(control, commits);
  const drafts = await openDrafts(control, order.onto.length);
  const reader = openReader(drafts.git);
  try {
    const objects: Objects = { drafts, ...knownTrees(async (id) => drafts.contentOf(id) ?? (await reader.read(id))) };
    const trunk = history && createTrunk(history, order.onto);
    if (trunk !== undefined) await readAll(objects, trunk, order);
    const { answers, top } = await stack(objects, trunk, order);
    if (answers.some(({ kind }) => kind === "merged")) await drafts.keep(top, commits);
    const { whole } = knownCommits(control);
    for (const [place, answer] of answers.entries()) {
      if (answer.kind !== "merged") continue;
      whole.add(answer.commit);
      const branch = order.entries[place]?.branch;
      await noteCommit(control, answer.commit, answer.tree, [order.onto, ...(branch === undefined ? [] : [branch])]);
    }
    return answers;
  } finally {
    await reader.close();
    await drafts.close();
  }
}

interface Objects extends KnownTrees {
  readonly drafts: Drafts;
}

async function readAll(objects: Objects, trunk: Trunk, { onto, entries }: MergeAllOrder): Promise<void> {
  const trees = treesOf(objects);
  await Promise.all(
    entries.map(async ({ branch }) => {
      const base = trunk.contains(branch) ? undefined : trunk.baseWith(branch);
      if (base === undefined) return;
      const [before, ours, theirs] = await Promise.all([base, onto, branch].map(objects.treeOf));
      if (before !== undefined && theirs !== undefined) await readAhead(trees, before, ours, theirs);
    }),
  );
}

function treesOf({ drafts, readTree }: Objects): Trees {
  return { read: readTree, write: (tree) => drafts.add("tree", writeTree(tree)) };
}

interface Top {
  readonly commit: string;
  readonly tree: string;
}

async function stack(
  objects: Objects,
  trunk: Trunk | undefined,
  { onto, author, entries }: MergeAllOrder,
): Promise<{ answers: readonly MergeAnswer[]; top: string }> {
  const answers: MergeAnswer[] = [];
  let top: Top = { commit: onto, tree: await objects.treeOf(onto) };
  for (const { branch, strategy, message, date } of entries) {
    const commit = { message, author, date };
    const answer = await (strategy === "ff"
      ? forward(objects, trunk, top, branch)
      : mergeOne(objects, trunk, top, branch, commit));
    answers.push(answer);
    // Without git there is nothing to wait for, and others have to come in between.
    await setImmediate();
    if (answer.kind === "fast-forward") {
      top = { commit: branch, tree: await objects.treeOf(branch) };
      trunk?.forward(branch);
    } else if (answer.kind === "merged") {
      trunk?.move(answer.commit, [top.commit, branch]);
      top = answer;
    }
  }
  return { answers, top: top.commit };
}

async function forward({ drafts }: Objects, trunk: Trunk | undefined, top: Top, branch: string): Promise<MergeAnswer> {
  const contains = async (outer: string, inner: string) => {
    await drafts.writeOut();
    return isAncestor(drafts.git, inner, outer);
  };
  if (trunk?.contains(branch) ?? (await contains(top.commit, branch))) return { kind: "up-to-date" };
  const isForward = trunk?.isIn(branch) ?? (await contains(branch, top.commit));
  return isForward ? { kind: "fast-forward", commit: branch } : { kind: "diverged" };
}

async function mergeOne(
  objects: Objects,
  trunk: Trunk | undefined,
  top: Top,
  branch: string,
  commit: Omit<NewCommit, "tree" | "parents">,
): Promise<MergeAnswer> {
  if (trunk?.contains(branch)) return { kind: "up-to-date" };
  const { drafts } = objects;
  const merged = (trunk && (await mergeHere(objects, trunk, top, branch))) ?? (await mergeByGit(drafts, top, branch));
  if (merged.kind === "conflict") return merged;
  const { tree } = merged;
  if (trunk === undefined && tree === top.tree && (await isAncestor(drafts.git, branch, top.commit)))
    return { kind: "up-to-date" };
  return { kind: "merged", commit: await write(drafts, { ...commit, tree, parents: [top.commit, branch] }), tree };
}

/** Undefined where only git knows. */
async function mergeHere(objects: Objects, trunk: Trunk, top: Top, branch: string): Promise<Prediction | undefined> {
  const base = trunk.baseWith(branch);
  if (base === undefined) return undefined;
  const tree = await mergeTrees(treesOf(objects), await objects.treeOf(base), top.tree, await objects.treeOf(branch));
  return tree === undefined ? undefined : { kind: "clean", tree };
}

async function mergeByGit(drafts: Drafts, top: Top, branch: string): Promise<Prediction> {
  await drafts.writeOut();
  return mergeTree(drafts.git, top.commit, branch);
}

async function write(drafts: Drafts, commit: NewCommit): Promise<string> {
  if (isPlain(commit.author)) return drafts.add("commit", Buffer.from(commitText(commit)));
  await drafts.writeOut();
  return commitTree(drafts.git, commit);
}
