import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CommitAllOrder } from "../../../ports/workspaces.ts";
import { branchRef } from "../check-names.ts";
import { commitTree } from "../control/commit-tree.ts";
import { type ControlGit, createControlGit } from "../control/control-git.ts";
import { draftsFolder } from "../control/open-control.ts";
import { treeOf } from "../control/read-history.ts";
import { joinNul, splitNul } from "../file-name.ts";
import type { GitPlace, RunGit } from "../git-runner.ts";
import { draftIndex } from "../salvage/draft-index.ts";
import { salvage } from "../salvage/salvage.ts";
import { stagedTree } from "../salvage/staged-tree.ts";
import { fileSettings, takeFiles } from "../salvage/take-files.ts";
import { writeTree } from "../salvage/take-tree.ts";
import { distrust } from "../salvage/workspace.ts";
import { installIndex } from "./check-out.ts";
import { quoted } from "./clone/open-plain.ts";
import { excludeBlock } from "./exclude-block.ts";
import { detached, operating } from "./faults.ts";
import { findWorkingCopy, type WorkingCopy } from "./find-working-copy.ts";
import { operationIn } from "./look-at.ts";
import type { Mechanics } from "./mechanics.ts";
import { type Workshop, wholePath } from "./workshop.ts";

/**
 * As in salvaging, no git runs with the workspace's own configuration: a draft that belongs to the control repository has
 * the workspace's files. Only its objects go to where the workspace's are, so that the branch can have them. The index
 * comes before the branch: killed in between, everything is staged, and the rest is done the next time.
 */
export async function commitAll(
  shop: Workshop,
  mechanics: Mechanics,
  order: CommitAllOrder,
): Promise<string | undefined> {
  const folder = await wholePath(order.folder);
  return shop.turns.take(folder, async () => {
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
  { folder, folders }: WorkingCopy,
  { gitDir, branch, head, task, message, author, date }: Drafting,
): Promise<string | undefined> {
  const plain = createControlGit(shop.git, shop.options.control, shop.options.ignoreFile);
  const control = writingTo(plain, join(folders.commonFolder, "objects"));
  const { draft, settings, entries } = await draftOf(control, { folder, folders, gitDir, head });
  const staged = await stagedTree(control, draft, entries);
  await takeFiles(control, draft, settings, entries, undefined);
  await leaveOut(control, draft, settings, head);
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

/** A worktree of the control repository's that has the workspace's files, and an index that is a copy of its own. */
export async function draftOf(
  control: ControlGit,
  { folder, folders, gitDir, head }: Pick<WorkingCopy, "folder" | "folders"> & Pick<Drafting, "gitDir" | "head">,
) {
  await writeFile(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
  await writeFile(join(gitDir, "commondir"), `${control.folder}\n`);
  const draft = { folder, gitDir, workTree: folder, configuration: "ours" } as const;
  const isLinked = folders.gitFolder !== folders.commonFolder;
  const workspace = { ...folders, folder, isLinked, source: folder, hasFiles: true };
  const settings = await fileSettings(control, workspace, draft);
  // Also where somebody has taken our block out of the list.
  await appendFile(join(gitDir, "ignored"), `\n${excludeBlock}`);
  return { draft, settings, entries: await draftIndex(control, workspace, draft, head) };
}

/** What was put into the index by force: task files, and what git is to ignore. What the commit before has stays. */
export async function leaveOut(
  control: ControlGit,
  draft: GitPlace,
  settings: readonly string[],
  head: string,
): Promise<void> {
  const list = async (...args: readonly string[]) =>
    splitNul((await control.run(draft, [...args, "-z"], { settings, isLong: true })).stdout);
  const added = await list("diff-index", "--cached", "--name-only", "--no-renames", "--diff-filter=A", head);
  if (added.length === 0) return;
  const ignored = await list("ls-files", "--cached", "--ignored", "--exclude-standard");
  const names = new Set(ignored.map((path) => path.toString("latin1")));
  const out = added.filter((path) => names.has(path.toString("latin1")) || isTaskFile(path.toString("latin1")));
  if (out.length === 0) return;
  await control.run(draft, ["update-index", "--force-remove", "-z", "--stdin"], { input: joinNul(out), writes: true });
}

function isTaskFile(path: string): boolean {
  return path === "TASK.md" || /^\.signalbox\/[^/]+\.md$/.test(path);
}

/** Git in the control repository that keeps what it makes elsewhere. `others` are further places where it finds objects. */
export function writingTo(control: ControlGit, objects: string, ...others: readonly string[]): ControlGit {
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
