import { setImmediate as nextTurn } from "node:timers/promises";
import { Fault } from "../../../fault.ts";
import type {
  Conflict,
  ConflictFile,
  MergeAllOrder,
  MergeAnswer,
  MergeOrder,
  MergeResult,
  Prediction,
  RevertOrder,
  RevertResult,
} from "../../../ports/control-repository.ts";
import type { Person } from "../../../ports/git.ts";
import { lastLines } from "../faults.ts";
import { checkCommit, fileName, splitNul } from "../names.ts";
import type { ControlGit } from "./control-git.ts";
import { checkWhole } from "./fetch-into.ts";
import { createTrunk, isAncestor, knownCommits, noteCommit, readHistory, type Trunk, treeOf } from "./history.ts";
import { type Drafts, type KnownTrees, knownTrees, openDrafts, openReader, writeTree } from "./objects.ts";
import { mergeTrees, readAhead, type Trees } from "./tree-merge.ts";

interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Person;
  /** Milliseconds since 1970. */
  readonly date: number;
}

/** Uses no clock, so that the same order always gives the same commit id. */
export async function commitTree(control: ControlGit, commit: NewCommit): Promise<string> {
  const { tree, parents, message, author, date } = commit;
  const time = `@${Math.floor(date / 1000)} +0000`;
  const { name, email } = { name: oneLine(author.name), email: oneLine(author.email) };
  const { stdout } = await control.git(
    [
      "commit-tree",
      "--no-gpg-sign",
      ...parents.flatMap((parent) => ["-p", parent]),
      "-F",
      "-",
      "--end-of-options",
      tree,
    ],
    {
      input: Buffer.from(message.replaceAll("\0", "")),
      writes: true,
      env: {
        GIT_AUTHOR_NAME: name,
        GIT_AUTHOR_EMAIL: email,
        GIT_AUTHOR_DATE: time,
        GIT_COMMITTER_NAME: name,
        GIT_COMMITTER_EMAIL: email,
        GIT_COMMITTER_DATE: time,
      },
    },
  );
  return stdout.toString("latin1").trim();
}

/** Whether git uses a name unchanged: it trims punctuation at both ends, and removes angle brackets. */
function isPlain({ name, email }: Person): boolean {
  return [name, email].every((text) => {
    const line = oneLine(text);
    return line !== "" && !/^[.,:;"\\']|[<>]|[.,:;"\\']$/.test(line);
  });
}

/** The commit object that `commitTree` would write, if the names are plain. */
function commitText({ tree, parents, message, author, date }: NewCommit): string {
  const who = `${oneLine(author.name)} <${oneLine(author.email)}> ${Math.floor(date / 1000)} +0000`;
  return [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${who}`,
    `committer ${who}`,
    "",
    message.replaceAll("\0", ""),
  ].join("\n");
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, " ").trim();
}

/**
 * Most of the time of a merge goes into starting git and into fsync. So simple merges are done here, without git, and
 * everything is synced once at the end. Git does the other merges.
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
    // Without git nothing here waits for I/O, so yield to the event loop.
    await nextTurn();
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

/** Undefined if only git can merge these. */
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

/** Merges two commits without a working tree. Merge drivers that attributes name do not run: none is configured. */
async function mergeTree(control: ControlGit, a: string, b: string): Promise<Prediction> {
  const ids = [checkCommit(a), checkCommit(b)];
  const args = ["merge-tree", "--write-tree", "-z", "--end-of-options", ...ids];
  const options = { accepts: [0, 1], settings, isLong: true, writes: true, mayGiveUp: true };
  const { code, stdout, stderr } = await control.git(args, options);
  // Git 2.39 aborts on some combinations of links, files and folders. That must not stop other merges.
  if (code === undefined) return { kind: "conflict", files: [], text: `git gave up: ${lastLines(stderr)}`, tree: "" };
  const parts = splitNul(stdout);
  const tree = parts[0]?.toString("latin1") ?? "";
  if (code === 0) return { kind: "clean", tree };
  const end = parts.findIndex((part) => part.length === 0);
  const messages = readMessages(parts.slice(end + 1));
  const paths = new Map(
    parts.slice(1, end).map((part) => {
      const path = part.subarray(part.indexOf("\t") + 1);
      return [path.toString("latin1"), path];
    }),
  );
  const files: readonly ConflictFile[] = [...paths].map(([key, path]) => ({
    path: fileName(path),
    kind: messages.find(({ paths, kind }) => kind !== undefined && paths.includes(key))?.kind ?? "other",
  }));
  return { kind: "conflict", files, text: messages.map(({ text }) => text).join("\n"), tree };
}

/** Fixed settings instead of the user's: a repeated merge must give the same result. */
const settings = ["merge.renames=true", "merge.directoryRenames=conflict", "diff.renameLimit=7000"];

interface Message {
  readonly paths: readonly string[];
  readonly kind: string | undefined;
  readonly text: string;
}

/** Each message is a number, that many paths, a heading and a text. */
function readMessages(parts: readonly Buffer[]): readonly Message[] {
  const messages: Message[] = [];
  for (let at = 0; at < parts.length; ) {
    const count = Number(parts[at]);
    const paths = parts.slice(at + 1, at + 1 + count).map((path) => path.toString("latin1"));
    const [heading = "", text = ""] = parts.slice(at + 1 + count).map((part) => part.toString("utf8"));
    const [, kind] = /^CONFLICT \((.*)\)$/.exec(heading) ?? [];
    if (kind !== undefined) messages.push({ paths, kind, text: lastLines(text) });
    at += count + 3;
  }
  return messages;
}

export async function merge(control: ControlGit, order: MergeOrder): Promise<MergeResult> {
  const { onto, branch, strategy, message, author, date } = order;
  if (strategy === "ff") {
    if (await isAncestor(control, branch, onto)) return { kind: "up-to-date" };
    if (await isAncestor(control, onto, branch)) return { kind: "fast-forward", commit: branch };
    throw new Fault("git.diverged", `${branch} does not contain ${onto}, so a fast-forward is not possible.`, {
      hint: "Merge the default branch into the task's branch first, or use the strategy that makes a merge commit.",
    });
  }
  // In parallel: most of the time goes into starting processes, and a needless merge costs nothing more.
  const [isIn, merged] = await Promise.all([isAncestor(control, branch, onto), mergeTree(control, onto, branch)]);
  if (isIn) return { kind: "up-to-date" };
  if (merged.kind === "conflict") return merged;
  const { tree } = merged;
  const commit = await commitTree(control, { tree, parents: [onto, branch], message, author, date });
  await checkWhole(control, [commit]);
  return { kind: "merged", commit, tree };
}

/** Adds a commit that undoes the merge; published history is never rewritten. */
export async function revertMerge(control: ControlGit, order: RevertOrder): Promise<RevertResult> {
  const { onto, before, after, message, author, date } = order;
  if (!(await isAncestor(control, after, onto))) {
    throw new Fault("git.bad-ref", `${after} is not part of ${onto}, so it cannot be reverted there.`, {
      hint: "Check where the branch is now.",
    });
  }
  // A commit on top of the merge with the files from before it: merging that commit undoes this merge and nothing else.
  const tree = await treeOf(control, before);
  const undone = await commitTree(control, { tree, parents: [after], message, author, date });
  const merged = await mergeTree(control, onto, undone);
  if (merged.kind === "conflict") return merged;
  if (merged.tree === (await treeOf(control, onto))) return { kind: "up-to-date" };
  const commit = await commitTree(control, { tree: merged.tree, parents: [onto], message, author, date });
  await checkWhole(control, [commit]);
  return { kind: "reverted", commit, tree: merged.tree };
}

/** For fewer commits, asking git about each is faster than reading trees. */
const many = 4;

/** The conflicts of a commit with each of the others; undefined for those that merge cleanly. */
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
  // Only the existence of a result matters.
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
