import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Salvage, SalvageOrder } from "../../../ports/control-repository.ts";
import { checkPart, noCommit } from "../check-names.ts";
import { commitTree } from "../control/commit-tree.ts";
import type { ControlGit } from "../control/control-git.ts";
import { checkWhole } from "../control/fetch-into.ts";
import { draftsFolder } from "../control/open-control.ts";
import { commitAt, treeOf } from "../control/read-history.ts";
import { entryAt } from "../entry-at.ts";
import type { GitPlace } from "../git-runner.ts";
import { syncRef } from "../lasting.ts";
import { draftIndex } from "./draft-index.ts";
import { fetchTips, forgetTips } from "./fetch-tips.ts";
import { ignoredFiles } from "./ignored-files.ts";
import { isAsCommitted, unborn } from "./is-as-committed.ts";
import { savedBefore } from "./saved-before.ts";
import { copyStaged } from "./staged-objects.ts";
import { hasMore, stagedTree } from "./staged-tree.ts";
import { fileSettings, takeFiles } from "./take-files.ts";
import { findWorkspace } from "./workspace.ts";

export const salvageFolder = "refs/signalbox/salvage/";

/**
 * No git ever runs with the workspace's own configuration: a draft of a worktree belongs to the control repository, has
 * the workspace's files, and an index of its own.
 */
export async function salvage(control: ControlGit, order: SalvageOrder): Promise<Salvage> {
  const { folder, task, at, anybodys = false, signal, repository } = order;
  checkPart(task);
  if (entryAt(folder)?.isSymbolicLink()) throw link(folder);
  const workspace = await findWorkspace(control.run, folder, repository);
  if (workspace === undefined) return repository === undefined ? missing(folder) : nothing;
  const drafts = join(control.folder, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const gitDir = await mkdtemp(join(drafts, "salvage-"));
  try {
    const { head, unsaved } = await fetchTips(control, workspace, task, signal);
    await writeFile(join(gitDir, "HEAD"), unborn);
    await writeFile(join(gitDir, "commondir"), `${control.folder}\n`);
    const place = workspace.hasFiles ? folder : await emptyFolder(gitDir);
    const draft = { folder: place, gitDir, workTree: place, configuration: "ours" } as const;
    const settings = await fileSettings(control, workspace, draft);
    const entries = await draftIndex(control, workspace, draft, head);
    const isSaved = workspace.hasFiles && head !== undefined && unsaved.length === 0;
    if (isSaved && (await isAsCommitted(control, draft, settings, entries, head))) {
      await forgetTips(control, task);
      return { ...nothing, ignored: await ignoredFiles(control, draft, settings) };
    }
    await copyStaged(control, workspace, draft, entries);
    const staged = await stagedTree(control, draft, entries);
    // Where the folder is gone, nobody meant to delete each of its files.
    const taken = workspace.hasFiles ? await takeFiles(control, draft, settings, entries, signal) : nothing;
    const tree = workspace.hasFiles ? await writeTree(control, draft) : (staged ?? (await treeAt(control, head)));
    const ignored = workspace.hasFiles ? await ignoredFiles(control, draft, settings) : [];
    const isConflict = entries.some(({ stage }) => stage !== "0");
    const saved = await save(control, { task, at, anybodys, head, unsaved, staged, isConflict, tree });
    await forgetTips(control, task);
    return { saved, ignored, repositories: taken.repositories, refused: taken.refused };
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

interface Found {
  readonly task: string;
  readonly at: number;
  readonly anybodys: boolean;
  readonly head: string | undefined;
  readonly unsaved: readonly string[];
  readonly staged: string | undefined;
  /** Whether some of what is staged is not one file, but the sides of a merge that was not ended. */
  readonly isConflict: boolean;
  readonly tree: string;
}

const nothing: Salvage = { saved: undefined, ignored: [], repositories: [], refused: [] };

const author = { name: "Signalbox", email: "signalbox@localhost" };

async function save(control: ControlGit, found: Found): Promise<Salvage["saved"]> {
  const { task, at, anybodys, head, unsaved, staged, isConflict, tree } = found;
  const before = await treeAt(control, head);
  const differs = staged !== undefined && staged !== before && staged !== tree;
  // In the middle of a merge the two always differ; what counts is whether something is staged that is nowhere else.
  const isStagedOnly = differs && (!isConflict || (await hasMore(control, staged, [before, tree])));
  if (tree === before && !isStagedOnly && unsaved.length === 0) return undefined;
  const sought = { task: anybodys ? undefined : task, head, tree, staged: isStagedOnly ? staged : undefined };
  const earlier = unsaved.length > 0 ? undefined : await savedBefore(control, sought);
  if (earlier !== undefined) return earlier;
  const first = head === undefined ? [] : [head];
  const make = (tree: string, parents: readonly string[], what: string) =>
    commitTree(control, { tree, parents, message: `${what} of task ${task}\n`, author, date: at });
  const index = isStagedOnly ? [await make(staged, first, "Staged files")] : [];
  const parents = [...new Set([...first, ...index, ...unsaved])];
  const commit = await make(tree, parents, "Salvaged work");
  await checkWhole(control, [commit]);
  return { ref: await file(control, task, at, commit), commit };
}

/** As `refs/signalbox/salvage/<task>/<time>`. What has that name already stays. */
async function file(control: ControlGit, task: string, at: number, commit: string): Promise<string> {
  const time = new Date(at).toISOString().replaceAll(/[:.]/g, "-");
  for (let number = 1; ; number += 1) {
    const ref = `${salvageFolder}${task}/${time}${number === 1 ? "" : `-${number}`}`;
    try {
      const created = [ref, commit, noCommit(commit)];
      await control.git(["update-ref", "--no-deref", "-m", "salvaged", "--end-of-options", ...created], {
        writes: true,
      });
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "git.ref-moved") throw error;
      if ((await commitAt(control, ref)) !== commit) continue;
    }
    await syncRef(control.folder, ref);
    return ref;
  }
}

async function emptyFolder(gitDir: string): Promise<string> {
  const folder = join(gitDir, "empty");
  await mkdir(folder);
  return folder;
}

async function treeAt(control: ControlGit, head: string | undefined): Promise<string> {
  return head === undefined ? emptyTree(control) : treeOf(control, head);
}

export async function writeTree(control: ControlGit, draft: GitPlace): Promise<string> {
  const { stdout } = await control.run(draft, ["write-tree"], { writes: true });
  return stdout.toString("latin1").trim();
}

export async function emptyTree(control: ControlGit): Promise<string> {
  const { stdout } = await control.git(["hash-object", "-w", "-t", "tree", "--stdin"], { writes: true });
  return stdout.toString("latin1").trim();
}

function missing(folder: string): never {
  throw new Fault("git.not-a-repository", `There is no folder ${folder}.`, {
    hint: "If it was a workspace, it is gone; what was collected from it is not.",
  });
}

function link(folder: string): Fault {
  return new Fault("git.not-a-repository", `${folder} is a link to another folder.`, {
    hint: "Somebody has put it in the place of the workspace: look at where it leads.",
  });
}
