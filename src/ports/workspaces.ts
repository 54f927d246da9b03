import type { ChangedLines, Diff, Salvage } from "./control-repository.ts";
import type { FileName, Person } from "./git.ts";
import type { PatchPage, PatchPart } from "./patch.ts";

/**
 * Creates, inspects and removes the working copies of one project. Which task gets which workspace is not decided here.
 * Folders are given by absolute path, commits by full id. Every method is idempotent and may be repeated after git or
 * the daemon was killed. No file is overwritten or deleted immediately: it is moved to the trash first. Faults: those
 * of `git.`, and `workspace.` missing, foreign, dirty, unsaved, branch-elsewhere, branch-taken, no-branch, detached,
 * operation, busy, locked, in-the-way, other-disk, bad-pattern, too-many-files, bad-task-file, unwritable.
 */
export interface WorkspaceKind {
  readonly kind: "worktree" | "clone";

  /**
   * Makes the folder a clean working copy on a branch: a new one, or from the existing working copy. Refused with
   * `workspace.dirty` if something in it is neither committed nor salvaged, with `workspace.unsaved` if no ref outside
   * it has its commits, and with `workspace.branch-elsewhere` if another folder has the branch checked out.
   */
  prepare(order: PrepareOrder): Promise<Prepared>;
  /**
   * Prepares a free, salvaged workspace for its next task: the files of a branch's present commit, no branch checked
   * out, everything else in the trash. `prepare` is much faster then. False if nothing was done; `prepare` then deals
   * with the problem.
   */
  park(order: ParkOrder): Promise<boolean>;
  /**
   * Runs no hook or filter planted in a clone. A worktree shares the user's configuration: compare `Git.fingerprint`
   * first.
   */
  inspect(folder: string): Promise<Inspection>;
  /** What is wrong with a workspace, as a sentence; undefined if nothing is. Only reads files: no git is run. */
  flawOf(folder: string): Promise<string | undefined>;
  /**
   * Sets a broken HEAD to a branch; no file changes. Undefined if HEAD is intact, or cannot be mended: `flawOf` then says
   * what is wrong.
   */
  mendHead(order: MendOrder): Promise<MendedHead | undefined>;
  /**
   * Reconnects a workspace and its repository after one of them was moved. `from` is the folder's old path. No file of
   * the work changes.
   */
  reconnect(folder: string, from?: string): Promise<void>;
  /** Undefined if HEAD is on no branch, or if there is no working copy. */
  currentBranch(folder: string): Promise<string | undefined>;
  /**
   * The commit of a branch in a working copy; undefined if there is no such branch. Only reads files: no git is run.
   */
  branchAt(folder: string, branch: string): Promise<string | undefined>;
  /** Renames the checked-out branch. The new name must be free. */
  renameBranch(folder: string, to: string): Promise<void>;
  /**
   * Fast-forwards the checked-out branch and its files to a commit that git finds there. Refused like `switchBranch`.
   */
  forwardBranch(folder: string, commit: string): Promise<void>;
  /** Makes a branch known in the workspace at its present commit, so that the agent can merge it by name. */
  learnBranch(folder: string, branch: string, commit: string): Promise<void>;
  /** Checks out an existing branch. Untracked files stay. */
  switchBranch(folder: string, to: string): Promise<void>;
  /**
   * Commits all uncommitted changes on the checked-out branch, and returns the commit; undefined if there are none. No
   * file changes, no hook or filter runs, and task files and ignored files are left out. Refused with
   * `workspace.operation` during a merge or the like, and with `workspace.detached`.
   */
  commitAll(order: CommitAllOrder): Promise<string | undefined>;
  /**
   * The uncommitted changes against the checked-out commit: including new files, without task files and ignored files.
   * At most `most` bytes. Changes nothing, and runs no filter. With `only`, a page of the patch of one file is read in place
   * of the whole patch; `page` is missing if the file has no uncommitted changes.
   */
  diffUncommitted(folder: string, most: number, only?: OneFile): Promise<Uncommitted>;
  /**
   * The files that the checked-out commit does not have as they are: changed, untracked and ignored. The name of a folder without
   * any tracked file ends with a slash. Without task files, and without folders that have one of the names in `keep`, at any depth.
   */
  uncommittedPaths(folder: string, keep: readonly string[]): Promise<readonly string[]>;
  /**
   * Deletes a branch of the user's repository if it is at this commit, else refused with `git.ref-moved`. A workspace
   * that has it checked out stays at the commit. If any other folder has it checked out, the branch stays. A clone's
   * branch exists only in the clone, and is removed with it.
   */
  deleteBranch(branch: string, commit: string): Promise<DeletedBranch>;

  /**
   * Moves the folder and git's record of it to the trash. `salvage` is the result of salvaging it; without it,
   * everything in the folder must be committed.
   */
  remove(folder: string, salvage: Salvage | undefined): Promise<void>;
  /**
   * Deletes the pipes, sockets and devices in the folder, and in git's own record of it, that would block git. They
   * have no content. Reads every folder. Returns how many there were.
   */
  deletePipes(folder: string): Promise<number>;
  /** Deletes files that are too old or too large for the trash: the oldest first, in small steps. */
  deleteTrash(order: TrashOrder): Promise<TrashReport>;

  /** Copies untracked files, such as `.env`, from the user's repository. Existing files stay. */
  copyFiles(order: CopyOrder): Promise<CopiedFiles>;

  /** The path of the main role's task file: `TASK.md`, or another one if the repository has its own `TASK.md`. */
  taskFileName(folder: string): Promise<string>;
  /**
   * Writes a task file atomically. Refused with `workspace.bad-task-file` if something else is in its place. With
   * `before`, only replaces that text: false if the file has changed meanwhile.
   */
  placeTaskFile(folder: string, name: string, text: string, before?: string): Promise<boolean>;
  /**
   * Undefined if there is none. Refused with `workspace.bad-task-file` beyond 1 MB, and if it is not a readable UTF-8
   * file.
   */
  readTaskFile(folder: string, name: string): Promise<string | undefined>;
  /** Writes a document, read-only, into the folder of documents. Refused as a task file is. */
  placeDocument(folder: string, name: string, text: string): Promise<void>;
  /** Whether the checked-out commit contains it. */
  isTaskFileTracked(folder: string, name: string): Promise<boolean>;
  /** Removes the block that hides task files from the user's repository, when the project is removed. */
  removeExclude(): Promise<void>;

  diskUse(folder: string, most?: number): Promise<DiskUse>;
}

/** The code of the Fault for a pipe, socket or device where git expects a file: git would wait for it for ever. */
export const blockedWorkspace = "workspace.blocked";

/** The code of the Fault for a file or folder that cannot be removed from a workspace, such as an immutable one. */
export const stuckWorkspace = "workspace.stuck";

/** The code of the Fault for a task file that cannot be read, or in whose place is something else. */
export const badTaskFile = "workspace.bad-task-file";

/** The path of any other role's task file. */
export function roleFileName(role: string): string {
  return `.signalbox/${role}.md`;
}

export interface MendOrder {
  readonly folder: string;
  /** The task's branch. */
  readonly branch: string;
  /** Where the branch is created if it does not exist; undefined if nothing was collected yet. */
  readonly commit: string | undefined;
}

export interface MendedHead {
  readonly branch: string;
  readonly commit: string;
}

export interface PrepareOrder {
  readonly folder: string;
  readonly branch: string;
  /** The commit at which a new branch begins. */
  readonly base: string;
  /** The last known commit of the branch: if the branch is gone, it is recreated there. */
  readonly lastAt?: string;
  /**
   * Whether the branch may already exist with commits of its own; else that is refused with `workspace.branch-taken`.
   * Clones know the user's branches from `refs/remotes/user/` in the control repository.
   */
  readonly existing: boolean;
  /** The folder was left by another task, or by this one, and its commits were collected: its own branches do not count. */
  readonly isLeft?: boolean;
  /** Whether the uncommitted changes in the folder have been salvaged. */
  readonly salvaged: boolean;
  /** Whether something in the folder could not be salvaged: then its trash is never deleted. */
  readonly holds?: boolean;
  /** Names of ignored folders, at any depth, that stay for the next task: `node_modules`. */
  readonly keep?: readonly string[];
  /** In a clone, a branch with this name is made at the base, so that the agent can compare with it. */
  readonly baseBranch?: string;
  /** In a clone, git shows every change in full, whatever the attributes in the work say. */
  readonly showsAll?: boolean;
}

export interface ParkOrder {
  readonly folder: string;
  /** A branch of the user's. */
  readonly at: string;
  /** As in `PrepareOrder`. */
  readonly keep?: readonly string[];
  readonly holds?: boolean;
  /** Called right before anything is changed. A later `prepare` waits until the workspace is parked. */
  isFree(): Promise<boolean>;
}

export interface Prepared {
  /** The checked-out commit. */
  readonly commit: string;
  /** new: created. recycled: made from the existing working copy. ready: nothing had to be done. */
  readonly how: "new" | "recycled" | "ready";
}

export type Inspection =
  | { readonly kind: "missing" }
  /** A sentence. `prepare` repairs it, unless the folder is not a workspace of this project. */
  | { readonly kind: "broken"; readonly reason: string }
  | {
      readonly kind: "there";
      /** Undefined if HEAD is on no branch. */
      readonly branch: string | undefined;
      readonly head: string;
      /** Whether it was parked, and nothing was committed or checked out since. */
      readonly parked: boolean;
      /** Whether anything is uncommitted: changed, staged or untracked. */
      readonly dirty: boolean;
      /** As `git status` counts them: a folder counts once. */
      readonly untracked: number;
      /** An unfinished operation, such as a merge. */
      readonly operation: Operation | undefined;
      /** git: it is working there, or was killed. person: a person has locked the worktree. */
      readonly locked: "git" | "person" | undefined;
    };

export type Operation = "merge" | "rebase" | "cherry-pick" | "revert" | "bisect";

export interface CommitAllOrder {
  readonly folder: string;
  /** Staged content that differs from the files is saved as a salvage of this task. */
  readonly task: string;
  readonly message: string;
  readonly author: Person;
  /** Milliseconds since 1970. */
  readonly date: number;
}

export interface Uncommitted extends Diff {
  readonly lines: readonly ChangedLines[];
  readonly page?: PatchPart;
}

export interface OneFile {
  /** As `FileName.text`. */
  readonly path: string;
  readonly page: PatchPage;
}

export type DeletedBranch =
  | { readonly kind: "deleted" | "gone" }
  /** The folder that has the branch checked out, and is not a workspace. */
  | { readonly kind: "checked-out"; readonly folder: string };

export interface TrashOrder {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds. */
  readonly keepFor: number;
  /** Bytes. */
  readonly most: number;
  /** Dry run: only reports what would be deleted. */
  readonly isDry?: boolean;
  /** Aborting it leaves the rest for the next call. */
  readonly signal?: AbortSignal;
}

export interface TrashReport {
  readonly deleted: number;
  readonly left: number;
  /** Bytes deleted, and bytes left. */
  readonly freed: number;
  readonly size: number;
  /** Entries that are never deleted, because salvaging could not save everything in them. */
  readonly held: readonly string[];
  /** Entries that could not be deleted, and why, as a sentence. They do not keep the others. */
  readonly stuck: readonly { readonly folder: string; readonly reason: string }[];
}

export interface CopyOrder {
  readonly folder: string;
  /** Patterns as in a `.gitignore`, but relative to the repository's root: `.env`, `certs`, with `**` and `*`. */
  readonly patterns: readonly string[];
  /** link: both share the file, and a change in one is a change in the other. */
  readonly how: "copy" | "link";
}

export interface CopiedFiles {
  readonly copied: readonly FileName[];
  /** Files that already existed in the workspace. */
  readonly kept: readonly FileName[];
  /** Files that are tracked in the workspace, not regular files, or links that lead out of the repository. */
  readonly refused: readonly FileName[];
}

export interface DiskUse {
  /** On the disk. */
  readonly bytes: number;
  readonly files: number;
  /** Whether counting stopped early. */
  readonly isCut: boolean;
}
