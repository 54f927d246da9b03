import { hash } from "node:crypto";
import { dirname, join } from "node:path";
import { Fault } from "../../../fault.ts";
import type { Inspection, Operation } from "../../../ports/workspaces.ts";
import { entryAt, namesIn } from "../file-entries.ts";
import {
  type GitFolders,
  type Head,
  lookForRef,
  readFileAt,
  readHead,
  readSmall,
  type UserRepository,
} from "../git-folder.ts";
import { branchRef, operations } from "../names.ts";
import { blocked, deletePipes, pipeIn } from "../pipes.ts";
import type { GitPlace } from "../runner.ts";
import { type Changes, isStaged, listChanges, withIndexAt } from "./changes.ts";
import { type Mechanics, notThere } from "./mechanics.ts";
import { type Workshop, type WorkspaceRecord, wholePath } from "./workshop.ts";

/** The folder that has a branch checked out, or is rebasing or bisecting it; undefined if there is none. */
export async function branchUse(
  { commonFolder, mainFolder }: UserRepository,
  branch: string,
  except: string | undefined,
): Promise<string | undefined> {
  if (mainFolder !== undefined && (await uses(commonFolder, commonFolder, branch))) return mainFolder;
  const entries = join(commonFolder, "worktrees");
  for (const name of await namesIn(entries)) {
    const gitFolder = join(entries, name);
    if (gitFolder === except || !(await uses(gitFolder, commonFolder, branch))) continue;
    // Also if the folder is gone: it may be on an unmounted disk.
    return dirname((await readSmall(join(gitFolder, "gitdir")))?.trimEnd() ?? gitFolder);
  }
  return undefined;
}

async function uses(gitFolder: string, commonFolder: string, branch: string): Promise<boolean> {
  const head = await readHead({ gitFolder, commonFolder });
  if (head?.branch !== undefined) return head.branch === branch;
  const begun = ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"];
  for (const file of begun) {
    const text = (await readSmall(join(gitFolder, file)))?.trim();
    if (text === `refs/heads/${branch}` || (text === branch && file === "BISECT_START")) return true;
  }
  return false;
}

/** Throws `git.no-commits` or `git.bad-ref` if there is no such commit. `refs` is the repository with the branches. */
export async function checkThere(
  { git, options }: Workshop,
  commit: string,
  { objects, refs }: { readonly objects: GitPlace; readonly refs: GitPlace },
): Promise<void> {
  const accepts = [0, 1, 128];
  const { code } = await git(objects, ["cat-file", "-e", "--end-of-options", `${commit}^{commit}`], { accepts });
  if (code === 0) return;
  const { stdout } = await git(refs, ["rev-list", "--max-count=1", "--all"]);
  throw stdout.length === 0 ? noCommits(options.repository) : noCommit(commit);
}

function noCommits(repository: string): Fault {
  return new Fault("git.no-commits", `${repository} has no commit yet.`, {
    hint: "Make a first one: git commit --allow-empty -m start",
  });
}

function noCommit(commit: string): Fault {
  return new Fault("git.bad-ref", `There is no commit ${commit} to start from.`, {
    hint: "Sync the repository, and check whether the commit exists.",
  });
}

/** A workspace that is intact. */
export interface WorkingCopy {
  readonly folder: string;
  readonly folders: GitFolders;
  readonly record: WorkspaceRecord | undefined;
  readonly head: Head;
}

/** Throws `workspace.missing` if there is no workspace, or it is damaged. */
export async function findWorkingCopy(shop: Workshop, mechanics: Mechanics, path: string): Promise<WorkingCopy> {
  const folder = await wholePath(path);
  const record = await shop.records.read(folder);
  const found = await mechanics.find(folder, record);
  if (found.kind !== "ours" || found.folders === undefined || found.flaw !== undefined) throw notThere(folder);
  const head = await readHead(found.folders);
  if (head === undefined) throw notThere(folder);
  return { folder, folders: found.folders, record, head };
}

export async function inspect(shop: Workshop, mechanics: Mechanics, path: string): Promise<Inspection> {
  const folder = await wholePath(path);
  const whole = await findWhole(shop, mechanics, folder);
  if ("kind" in whole) return whole;
  const { record, folders, head, isLocked } = whole;
  const look = await lookAt(shop, mechanics, { folder, folders, isTrusted: true, record, commit: head.commit });
  const isHeld = entryAt(join(folders.gitFolder, "index.lock")) !== undefined;
  return {
    kind: "there",
    branch: head.branch,
    head: head.commit,
    parked: await isParked(record, folders, head),
    dirty: isDirty(look),
    untracked: look.others.length,
    operation: look.operation,
    locked: isHeld ? "git" : isLocked ? "person" : undefined,
  };
}

export async function currentBranch(shop: Workshop, mechanics: Mechanics, path: string): Promise<string | undefined> {
  const folder = await wholePath(path);
  const found = await mechanics.find(folder, await shop.records.read(folder));
  if (found.kind !== "ours" || found.folders === undefined) return undefined;
  return (await readHead(found.folders))?.branch;
}

export async function branchAt(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  branch: string,
): Promise<string | undefined> {
  const { folder, folders } = await findWorkingCopy(shop, mechanics, path);
  const found = await lookForRef(folders.commonFolder, branchRef(branch));
  if (found.kind === "unknown") throw notThere(folder);
  return found.kind === "there" ? found.id : undefined;
}

/**
 * What is wrong with a workspace, as a sentence; undefined if it is intact. Reads files, does not run git. Throws as
 * `inspect` does.
 */
export async function flawOf(shop: Workshop, mechanics: Mechanics, path: string): Promise<string | undefined> {
  const whole = await findWhole(shop, mechanics, await wholePath(path));
  if (!("kind" in whole)) return undefined;
  return whole.kind === "missing" ? "It is gone." : whole.reason;
}

interface Whole {
  readonly record: WorkspaceRecord | undefined;
  readonly folders: GitFolders;
  readonly head: Head & { readonly commit: string };
  readonly isLocked: boolean;
}

async function findWhole(
  shop: Workshop,
  mechanics: Mechanics,
  folder: string,
): Promise<Whole | Exclude<Inspection, { kind: "there" }>> {
  if (entryAt(folder) === undefined) return { kind: "missing" };
  const record = await shop.records.read(folder);
  const found = await mechanics.find(folder, record);
  if (found.kind === "nothing") return broken("It is empty.");
  if (found.kind === "foreign") return broken(found.reason);
  if (record !== undefined && record.phase !== "ready") return broken("Its creation was interrupted.");
  const { folders, flaw, isLocked } = found;
  if (flaw !== undefined || folders === undefined) return broken(flaw ?? "Its repository is gone.");
  const head = await readHead(folders);
  refuseBlocked(folder, folders, head);
  if (head?.commit !== undefined) return { record, folders, head: { ...head, commit: head.commit }, isLocked };
  if (head?.branch !== undefined) return broken(`Its branch "${head.branch}" is gone.`);
  return broken("Its HEAD cannot be read, or has no commit.");
}

/** Throws `workspace.blocked` if an agent has put a pipe in the place of a file that git reads. */
export function refuseBlocked(folder: string, folders: GitFolders | undefined, head: Head | undefined): void {
  const pipe = folders && pipeIn(folder, folders, head?.branch);
  if (pipe !== undefined) throw blocked(pipe);
}

/** Deletes pipes in the workspace's own folders only: the shared git folder is the user's. */
export async function deletePipesIn(shop: Workshop, mechanics: Mechanics, path: string): Promise<number> {
  const folder = await wholePath(path);
  const found = await mechanics.find(folder, await shop.records.read(folder));
  return found.kind === "foreign" ? 0 : deletePipes(folder, found.folders?.gitFolder);
}

function broken(reason: string): Extract<Inspection, { kind: "broken" }> {
  return { kind: "broken", reason };
}

export interface Look extends Changes {
  readonly isStaged: boolean;
  readonly operation: Operation | undefined;
}

/** The uncommitted work in a workspace. `commit` is the checked-out commit. */
export async function lookAt(
  shop: Workshop,
  mechanics: Mechanics,
  subject: {
    readonly folder: string;
    readonly folders: GitFolders | undefined;
    /** Whether the settings that git reads there are unchanged. */
    readonly isTrusted: boolean;
    readonly record: WorkspaceRecord | undefined;
    readonly commit: string;
  },
): Promise<Look> {
  const { folder, folders, isTrusted, commit } = subject;
  const files = await mechanics.filesOf(folder, isTrusted ? folders : undefined);
  const gitFolder = folders?.gitFolder;
  const look = (ours: string) =>
    Promise.all([
      listChanges(shop, files, ours, false),
      gitFolder === undefined ? false : isStaged(shop, files, { gitFolder, head: commit, ours }),
      gitFolder && operationIn(gitFolder),
    ]);
  const [changes, staged, operation] = await withIndexAt(shop, files, subject, look);
  return { ...changes, isStaged: staged, operation: operation || undefined };
}

export function isDirty({ changed, others, isStaged, operation }: Look): boolean {
  return changed.length > 0 || others.length > 0 || isStaged || operation !== undefined;
}

/** The operation that is under way, such as a merge or a rebase. */
export async function operationIn(gitFolder: string): Promise<Operation | undefined> {
  for (const [file, operation] of operations) {
    if (entryAt(join(gitFolder, file)) !== undefined) return operation;
  }
  return undefined;
}

/** The value of `branch` in the record of a parked workspace. */
export const noBranch = "";

/**
 * Whether a workspace is parked, without a commit or checkout since. The reflog is compared too: an agent that
 * committed and went back has left commits that only the reflog leads to.
 */
export async function isParked(
  record: WorkspaceRecord | undefined,
  folders: GitFolders | undefined,
  head: Head | undefined,
): Promise<boolean> {
  if (record?.phase !== "ready" || record.branch !== noBranch || folders === undefined) return false;
  if (head?.branch !== undefined || head?.commit !== record.commit) return false;
  return (await movesOf(folders)) === record.moves;
}

/** A hash of HEAD's reflog. */
export async function movesOf({ gitFolder }: GitFolders): Promise<string> {
  const bytes = await readFileAt(join(gitFolder, "logs", "HEAD"), maxReflogSize);
  return typeof bytes === "string" ? bytes : hash("sha256", bytes);
}

const maxReflogSize = 64 * 1024 * 1024;

/** Rewrites only what contains absolute paths: our record of the folder, and the link between folder and repository. */
export async function reconnect(
  shop: Workshop,
  mechanics: Mechanics,
  path: string,
  from: string | undefined,
): Promise<void> {
  const folder = await wholePath(path);
  return shop.inTurn(folder, async () => {
    if (from !== undefined) await shop.records.move(from, folder);
    if (entryAt(folder) === undefined) return;
    await mechanics.reconnect(folder, await shop.records.read(folder));
  });
}
