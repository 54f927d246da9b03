import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ChangedLines } from "../../../ports/control-repository.ts";
import type { CommitAllOrder, OneFile, Uncommitted } from "../../../ports/workspaces.ts";
import { draftsFolder } from "../control/control.ts";
import { type ControlGit, createControlGit } from "../control/control-git.ts";
import { counted, patch, readCounted } from "../control/diff.ts";
import { treeOf } from "../control/history.ts";
import { commitTree } from "../control/merge.ts";
import { pathspecsOf, readPatchPage } from "../control/patch-page.ts";
import { branchRef, joinNul, splitNul } from "../names.ts";
import type { GitPlace, RunGit } from "../runner.ts";
import { salvage } from "../salvage/salvage.ts";
import { draftIndex, stagedTree } from "../salvage/staged.ts";
import { fileSettings, takeFiles, writeTree } from "../salvage/take-files.ts";
import { distrust } from "../untrusted-folder.ts";
import { quoted } from "./clone.ts";
import { excludeBlock, installIndex } from "./git-files.ts";
import { findWorkingCopy, operationIn, type WorkingCopy } from "./inspect.ts";
import { detached, type Mechanics, notThere, operating } from "./mechanics.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/**
 * As in a salvage, git never runs with the workspace's own configuration: it works on a draft of the control repository
 * over the workspace's files. Only the objects go to the workspace's own store, for its branch. The index is written
 * before the branch: killed in between, everything is staged, and the next call commits it.
 */
export async function commitAll(
  shop: Workshop,
  mechanics: Mechanics,
  order: CommitAllOrder,
): Promise<string | undefined> {
  const folder = await wholePath(order.folder);
  return shop.inTurn(folder, async () => {
    const copy = await findWorkingCopy(shop, mechanics, folder);
    const { head, folders } = copy;
    if (head.branch === undefined || head.commit === undefined) throw detached(folder, "commit on");
    const operation = await operationIn(folders.gitFolder);
    if (operation !== undefined) throw operating(folder, operation);
    const drafts = join(shop.options.control, draftsFolder);
    await mkdir(drafts, { recursive: true });
    const gitDir = await mkdtemp(join(drafts, "commit-"));
    try {
      return await commitDraft(shop, mechanics, copy, { ...order, gitDir, branch: head.branch, head: head.commit });
    } finally {
      await rm(gitDir, { recursive: true, force: true });
    }
  });
}

interface Drafting extends CommitAllOrder {
  readonly gitDir: string;
  readonly branch: string;
  readonly head: string;
}

async function commitDraft(
  shop: Workshop,
  mechanics: Mechanics,
  { folder, folders, record }: WorkingCopy,
  { gitDir, branch, head, task, message, author, date }: Drafting,
): Promise<string | undefined> {
  const plain = createControlGit(shop.git, shop.options.control, (await shop.options.settings?.())?.ignoreFile);
  const control = writingTo(plain, join(folders.commonFolder, "objects"));
  const { draft, settings, entries } = await draftOf(control, { folder, folders, gitDir, head });
  const staged = await stagedTree(control, draft, entries);
  await takeFiles(control, draft, settings, entries, undefined);
  await leaveOut(control, draft, settings, head, record?.commit);
  await control.run(draft, ["update-index", "--no-split-index"], { writes: true });
  const [tree, before] = [await writeTree(control, draft), await treeOf(control, head)];
  if (tree === before && staged === before) return undefined;
  if (staged !== undefined && staged !== tree && staged !== before) await salvage(plain, { folder, task, at: date });
  if (staged !== tree) await installIndex(join(gitDir, "index"), folders.gitFolder, [folder]);
  if (tree === before) return undefined;
  const commit = await commitTree(control, { tree, parents: [head], message, author, date });
  const { place, env } = await mechanics.refsOf(folder, folders, [branchRef(branch)]);
  const moved = [branchRef(branch), commit, head];
  await shop.git(place, ["update-ref", "--no-deref", "-m", "commit: what was left uncommitted", ...moved], {
    env,
    writes: true,
  });
  return commit;
}

/** A draft of the control repository over the workspace's files, with a copy of the workspace's index. */
async function draftOf(
  control: ControlGit,
  { folder, folders, gitDir, head }: Pick<WorkingCopy, "folder" | "folders"> & Pick<Drafting, "gitDir" | "head">,
) {
  await writeFile(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
  await writeFile(join(gitDir, "commondir"), `${control.folder}\n`);
  const draft = { folder, gitDir, workTree: folder, configuration: "ours" } as const;
  const isLinked = folders.gitFolder !== folders.commonFolder;
  const workspace = { ...folders, folder, isLinked, source: folder, hasFiles: true };
  const settings = await fileSettings(control, workspace, draft);
  // An agent may have removed our block from the exclude file.
  await appendFile(join(gitDir, "ignored"), `\n${excludeBlock}`);
  return { draft, settings, entries: await draftIndex(control, workspace, draft, head) };
}

/**
 * Unstages task files and ignored files that were added by force. Files that are already in HEAD stay; a task file that the agent
 * has committed since `first`, where its work began, stays as it is in HEAD.
 */
async function leaveOut(
  control: ControlGit,
  draft: GitPlace,
  settings: readonly string[],
  head: string,
  first: string | undefined,
): Promise<void> {
  const list = async (...args: readonly string[]) =>
    splitNul((await control.run(draft, [...args, "-z"], { settings, isLong: true })).stdout);
  await leaveAsCommitted(control, draft, head, first);
  const added = await list("diff-index", "--cached", "--name-only", "--no-renames", "--diff-filter=A", head);
  if (added.length === 0) return;
  const ignored = await list("ls-files", "--cached", "--ignored", "--exclude-standard");
  const names = new Set(ignored.map((path) => path.toString("latin1")));
  const out = added.filter((path) => names.has(path.toString("latin1")) || isTaskFile(path.toString("latin1")));
  if (out.length === 0) return;
  await control.run(draft, ["update-index", "--force-remove", "-z", "--stdin"], { input: joinNul(out), writes: true });
}

async function leaveAsCommitted(control: ControlGit, draft: GitPlace, head: string, first = head): Promise<void> {
  if (first === head) return;
  const filesAt = async (commit: string) => {
    const args = ["ls-tree", "-r", "-z", "--full-tree", commit, "--", "TASK.md", ".signalbox"];
    return splitNul((await control.run(draft, args)).stdout).map((line) => line.toString("latin1"));
  };
  const nameIn = (line: string) => line.slice(line.indexOf("\t") + 1);
  const committed = (await filesAt(head)).filter((line) => isTaskFile(nameIn(line)));
  if (committed.length === 0) return;
  const own = new Set((await filesAt(first)).map(nameIn));
  // The agent may have removed it since.
  const { stdout } = await control.run(draft, ["ls-files", "--cached", "-z", "--", "TASK.md", ".signalbox"]);
  const staged = new Set(splitNul(stdout).map((path) => path.toString("latin1")));
  const lines = committed
    .filter((line) => staged.has(nameIn(line)) && !own.has(nameIn(line)))
    .map((line) => Buffer.from(line, "latin1"));
  if (lines.length === 0) return;
  await control.run(draft, ["update-index", "-z", "--index-info"], { input: joinNul(lines), writes: true });
}

function isTaskFile(path: string): boolean {
  return path === "TASK.md" || /^\.signalbox\/(documents\/)?[^/]+\.md$/.test(path);
}

/** Git in the control repository that writes its objects into `objects`, and also reads objects from `others`. */
function writingTo(control: ControlGit, objects: string, ...others: readonly string[]): ControlGit {
  const env = {
    GIT_OBJECT_DIRECTORY: objects,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: [join(control.folder, "objects"), ...others].map(quoted).join(":"),
  };
  const run: RunGit = (place, args, options = {}) =>
    control.run(place, args, {
      ...options,
      env: { ...options.env, ...env },
      settings: [...distrust, ...(options.settings ?? [])],
    });
  return {
    ...control,
    run,
    git: (args, options = {}) =>
      control.git(args, {
        ...options,
        env: { ...options.env, ...env },
        settings: [...distrust, ...(options.settings ?? [])],
      }),
  };
}

/** The diff that `commitAll` would commit. Works in a draft with its own object store, which is deleted afterwards. */
export async function diffUncommitted(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  most: number,
  only?: OneFile,
): Promise<Uncommitted> {
  const folder = await wholePath(path);
  const { head, folders, record } = await findWorkingCopy(shop, mechanics, folder);
  const commit = head.commit;
  if (commit === undefined) throw notThere(folder);
  const drafts = join(shop.options.control, draftsFolder);
  await mkdir(drafts, { recursive: true });
  const gitDir = await mkdtemp(join(drafts, "diff-"));
  try {
    const objects = join(gitDir, "objects");
    await mkdir(objects);
    const plain = createControlGit(shop.git, shop.options.control, (await shop.options.settings?.())?.ignoreFile);
    const control = writingTo(plain, objects, join(folders.commonFolder, "objects"));
    const { draft, settings, entries } = await draftOf(control, { folder, folders, gitDir, head: commit });
    await takeFiles(control, draft, settings, entries, undefined);
    await leaveOut(control, draft, settings, commit, record?.commit);
    const compare = ["diff-index", "--cached"];
    const { stdout } = await control.run(draft, [...compare, ...counted, commit], { settings, isLong: true });
    const lines = readCounted(stdout);
    if (only !== undefined) {
      const found = lines.find((each) => each.path.text === only.path);
      const args = [...compare, ...patch, commit, "--"];
      const read = ({ path, from }: ChangedLines) =>
        readPatchPage(only.page, (options) =>
          control.run(draft, [...args, ...pathspecsOf({ path, from })], { settings, ...options }),
        );
      return {
        bytes: new Uint8Array(),
        isCut: false,
        lines,
        ...(found === undefined ? {} : { page: await read(found) }),
      };
    }
    const text = await control.run(draft, [...compare, ...patch, commit], { settings, most, cuts: true, isLong: true });
    return { bytes: text.stdout, isCut: text.isCut, lines };
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}
