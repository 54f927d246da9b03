import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FileName } from "../../../ports/git-names.ts";
import { commitTree } from "../control/commit-tree.ts";
import type { ControlGit } from "../control/control-git.ts";
import { draftsFolder } from "../control/open-control.ts";
import { treeOf } from "../control/read-history.ts";
import { joinNul, splitNul } from "../file-name.ts";
import type { GitPlace } from "../git-runner.ts";
import { draftIndex, type IndexEntry } from "./draft-index.ts";
import { unborn } from "./is-as-committed.ts";
import { copyStaged } from "./staged-objects.ts";
import { hasMore, stagedTree } from "./staged-tree.ts";
import { fileSettings, takeFiles } from "./take-files.ts";
import type { Workspace } from "./workspace.ts";

/** A working copy that belongs to the control repository and has a workspace's files, with an index of its own. */
export interface Draft extends GitPlace {
  readonly gitDir: string;
}

/** No git ever runs with the workspace's own configuration. What was drafted is gone afterwards. */
export async function withDraft<T>(
  control: ControlGit,
  { folder, hasFiles }: Workspace,
  use: (draft: Draft) => Promise<T>,
): Promise<T> {
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const gitDir = await mkdtemp(join(drafts, "salvage-"));
  try {
    await writeFile(join(gitDir, "HEAD"), unborn);
    await writeFile(join(gitDir, "commondir"), `${control.folder}\n`);
    const place = hasFiles ? folder : await emptyFolder(gitDir);
    return await use({ folder: place, gitDir, workTree: place, configuration: "ours" });
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function emptyFolder(gitDir: string): Promise<string> {
  const folder = join(gitDir, "empty");
  await mkdir(folder);
  return folder;
}

export interface Drafted {
  readonly draft: Draft;
  readonly settings: readonly string[];
  readonly entries: readonly IndexEntry[];
}

export async function draftOf(
  control: ControlGit,
  workspace: Workspace,
  draft: Draft,
  head: string | undefined,
): Promise<Drafted> {
  const settings = await fileSettings(control, workspace, draft);
  return { draft, settings, entries: await draftIndex(control, workspace, draft, head) };
}

export interface Taken {
  readonly tree: string;
  /** What was staged, where it is nowhere else. */
  readonly staged: string | undefined;
  /** Whether anything is there that the commit which is checked out has not. */
  readonly isChanged: boolean;
  /** Every repository inside; and what those that had to be saved have become, which the tree has in their places. */
  readonly repositories: readonly FileName[];
  readonly inside: readonly string[];
  readonly refused: readonly FileName[];
}

export interface SavedInside {
  /** Where they were, and the commit that each has become. */
  readonly saved: readonly { readonly path: string; readonly commit: string }[];
  /** Those of which something could not be saved. */
  readonly refused: readonly FileName[];
}

/** Puts the files of a workspace into the control repository, and what `takeInside` has saved of the repositories in it. */
export async function takeTree(
  control: ControlGit,
  workspace: Workspace,
  { draft, settings, entries }: Drafted,
  { head, signal }: { readonly head: string | undefined; readonly signal: AbortSignal | undefined },
  takeInside: (repositories: readonly FileName[], files: readonly Buffer[]) => Promise<SavedInside>,
): Promise<Taken> {
  await copyStaged(control, workspace, draft, entries);
  const staged = await stagedTree(control, draft, entries);
  const before = await treeAt(control, head);
  // Where the folder is gone, nobody meant to delete each of its files.
  const taken = workspace.hasFiles ? await takeFiles(control, draft, settings, entries, signal) : nothing;
  const files = workspace.hasFiles ? await writeTree(control, draft) : (staged ?? before);
  const inside = await takeInside(taken.repositories, await namesOf(control, draft));
  const tree = inside.saved.length === 0 ? files : await treeWith(control, draft, files, inside.saved);
  const differs = staged !== undefined && staged !== before && staged !== files;
  // In the middle of a merge the two always differ; what counts is whether something is staged that is nowhere else.
  const isConflict = entries.some(({ stage }) => stage !== "0");
  const isStagedOnly = differs && (!isConflict || (await hasMore(control, staged, [before, files])));
  return {
    tree,
    staged: isStagedOnly ? staged : undefined,
    isChanged: tree !== before || isStagedOnly,
    repositories: taken.repositories,
    inside: inside.saved.map(({ commit }) => commit),
    refused: [...taken.refused, ...inside.refused],
  };
}

async function namesOf(control: ControlGit, draft: Draft): Promise<readonly Buffer[]> {
  return splitNul((await control.run(draft, ["ls-files", "-z"], { isLong: true })).stdout);
}

const nothing = { repositories: [], refused: [] } as const;

/** A repository inside stands in the tree as a submodule does, by its commit. */
async function treeWith(
  control: ControlGit,
  draft: Draft,
  tree: string,
  inside: SavedInside["saved"],
): Promise<string> {
  const env = { GIT_INDEX_FILE: join(draft.gitDir, "inside-index") };
  await control.run(draft, ["read-tree", "--end-of-options", tree], { env, writes: true });
  const input = joinNul(inside.map(({ path, commit }) => `160000 ${commit} 0\t${path}`));
  await control.run(draft, ["update-index", "-z", "--index-info"], { env, input, writes: true });
  return writeTree(control, draft, env);
}

const author = { name: "Signalbox", email: "signalbox@localhost" };

/** Everything that was taken as one commit, from which all of it can be reached. */
export async function commitTaken(
  control: ControlGit,
  { tree, staged, inside }: Taken,
  order: {
    readonly head: string | undefined;
    readonly unsaved: readonly string[];
    readonly message: string;
    readonly staged: string;
    readonly date: number;
  },
): Promise<string> {
  const { head, unsaved, message, date } = order;
  const first = head === undefined ? [] : [head];
  const make = (of: string, parents: readonly string[], text: string) =>
    commitTree(control, { tree: of, parents, message: text, author, date });
  const index = staged === undefined ? [] : [await make(staged, first, order.staged)];
  return make(tree, [...new Set([...first, ...index, ...unsaved, ...inside])], message);
}

async function treeAt(control: ControlGit, head: string | undefined): Promise<string> {
  return head === undefined ? emptyTree(control) : treeOf(control, head);
}

export async function writeTree(
  control: ControlGit,
  draft: GitPlace,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { stdout } = await control.run(draft, ["write-tree"], { env, writes: true });
  return stdout.toString("latin1").trim();
}

export async function emptyTree(control: ControlGit): Promise<string> {
  const { stdout } = await control.git(["hash-object", "-w", "-t", "tree", "--stdin"], { writes: true });
  return stdout.toString("latin1").trim();
}
