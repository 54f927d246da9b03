import type { ChangedLines, Diff, Salvage } from "./control-repository.ts";
import type { FileName, Person } from "./git-names.ts";

/**
 * How working copies of one project are made, looked at and taken away. Which task gets which of them is not decided
 * here. Folders are given by whole paths, commits by whole ids. Everything may be repeated, also after git or we were
 * killed in the middle of it. No file is ever overwritten or deleted at once: what has to go is moved to the trash.
 * Faults: those of `git.`, and `workspace.` missing, foreign, dirty, unsaved, branch-elsewhere, branch-taken, no-branch,
 * detached, operation, busy, locked, in-the-way, other-disk, bad-pattern, too-many-files, bad-task-file, unwritable.
 */
export interface WorkspaceKind {
  readonly kind: "worktree" | "clone";

  /**
   * Makes the folder a clean working copy on a branch: from nothing, or out of the working copy that is there. Refused
   * with `workspace.dirty` where something in it is neither committed nor salvaged, with `workspace.unsaved` where no ref
   * outside of it has its commits, and with `workspace.branch-elsewhere` where another folder has the branch.
   */
  prepare(order: PrepareOrder): Promise<Prepared>;
  /**
   * Makes a workspace that nobody has, and that was salvaged, ready for whoever gets it next: the files of a branch as it
   * is now, no branch checked out, everything else in the trash. `prepare` is much faster then. False where nothing was
   * done: whatever is wrong is for `prepare`.
   */
  park(order: ParkOrder): Promise<boolean>;
  /** Runs nothing that was planted in a clone. A worktree shares its configuration: compare `Git.fingerprint` before. */
  inspect(folder: string): Promise<Inspection>;
  /** What is wrong with a workspace, as a sentence; undefined where nothing is. Only reads: no git is run. */
  flawOf(folder: string): Promise<string | undefined>;
  /**
   * Lets a workspace and what it belongs to find each other again after the repository, or the folder itself, was moved.
   * `from` is where the folder was. No file of the work changes.
   */
  reconnect(folder: string, from?: string): Promise<void>;
  /** Undefined where HEAD is on no branch, or where there is no working copy. */
  currentBranch(folder: string): Promise<string | undefined>;
  /** The commit that a branch of a working copy is at; undefined where there is no such branch. Only reads: no git is run. */
  branchAt(folder: string, branch: string): Promise<string | undefined>;
  /** Gives the branch that is checked out another name, which nobody may have yet. */
  renameBranch(folder: string, to: string): Promise<void>;
  /**
   * Moves the branch that is checked out, and its files, to a commit that contains it and that git finds there. Refused as
   * `switchBranch` is.
   */
  forwardBranch(folder: string, commit: string): Promise<void>;
  /** Lets whoever works there find a branch by its name where it is now, so that it can be merged. */
  learnBranch(folder: string, branch: string, commit: string): Promise<void>;
  /** Checks out a branch that is there already. Files that git does not know stay. */
  switchBranch(folder: string, to: string): Promise<void>;
  /**
   * Commits everything that is uncommitted on the branch that is checked out, and gives the commit; undefined where there
   * is nothing. No file changes, no hook and no filter runs, and neither task files nor what git ignores are in it.
   * Refused with `workspace.operation` in the middle of a merge or the like, and with `workspace.detached`.
   */
  commitAll(order: CommitAllOrder): Promise<string | undefined>;
  /**
   * What is uncommitted there, against the commit that is checked out: also new files, but neither task files nor what git
   * ignores. At most `most` bytes of it. Nothing changes anywhere, and no filter runs.
   */
  diffUncommitted(folder: string, most: number): Promise<Uncommitted>;
  /**
   * Deletes a branch of the user's repository that is at this commit; refused with `git.ref-moved` where it is elsewhere.
   * Of a workspace that has it checked out only the commit is left. Whatever else has it checked out keeps it. In clones
   * the branch is nobody's but the clone's, and goes with it.
   */
  deleteBranch(branch: string, commit: string): Promise<DeletedBranch>;

  /**
   * Moves the folder to the trash, and git's record of it. `salvage` is what saving it gave; without it nothing may be
   * there that is not committed.
   */
  remove(folder: string, salvage: Salvage | undefined): Promise<void>;
  /** Deletes what has been in the trash for too long, or is too much for it: the oldest first, a little at a time. */
  deleteTrash(order: TrashOrder): Promise<TrashReport>;

  /** Copies files that git does not know, such as `.env`, from the user's repository. What is there already stays. */
  copyFiles(order: CopyOrder): Promise<CopiedFiles>;

  /** Where the task file of the main role is: `TASK.md`, or elsewhere where the repository has one of its own. */
  taskFileName(folder: string): Promise<string>;
  /**
   * Writes a task file, whole or not at all. Refused with `workspace.bad-task-file` where something else has its place. With
   * `before`, only in the place of that text: false where somebody has written meanwhile.
   */
  placeTaskFile(folder: string, name: string, text: string, before?: string): Promise<boolean>;
  /** Undefined where there is none. Refused with `workspace.bad-task-file` beyond 1 MB, and where it is no readable file in UTF-8. */
  readTaskFile(folder: string, name: string): Promise<string | undefined>;
  /** Whether the commit that is checked out contains it. */
  isTaskFileTracked(folder: string, name: string): Promise<boolean>;
  /** Takes the block that hides task files out of the user's repository again, for when the project goes. */
  removeExclude(): Promise<void>;

  diskUse(folder: string, most?: number): Promise<DiskUse>;
}

/** The code of the Fault for a task file that cannot be read, or has something else in its place. */
export const badTaskFile = "workspace.bad-task-file";

/** Where the task file of any other role is. */
export function roleFileName(role: string): string {
  return `.signalbox/${role}.md`;
}

export interface PrepareOrder {
  readonly folder: string;
  readonly branch: string;
  /** Where the branch begins, if it is not there yet. */
  readonly base: string;
  /** Where the branch was last known to be: it begins there if it is gone. */
  readonly lastAt?: string;
  /**
   * Whether the branch may be there with commits of its own. If not, that is refused with `workspace.branch-taken`. Clones
   * know the user's branches from the control repository, where they are under `refs/remotes/user/`.
   */
  readonly existing: boolean;
  /** Whether what is uncommitted in the folder has been salvaged. */
  readonly salvaged: boolean;
  /** Whether something in the folder could not be salvaged: then nobody deletes what goes to the trash. */
  readonly holds?: boolean;
  /** Names of folders that outlive a task where git ignores them, wherever they are: `node_modules`. */
  readonly keep?: readonly string[];
  /** In a clone the base gets this name too, so that it can be compared with. */
  readonly baseBranch?: string;
}

export interface ParkOrder {
  readonly folder: string;
  /** A branch of the user's. */
  readonly at: string;
  /** As in `PrepareOrder`. */
  readonly keep?: readonly string[];
  readonly holds?: boolean;
  /** Asked right before anything is touched. Whoever prepares it later waits until it is parked. */
  isFree(): Promise<boolean>;
}

export interface Prepared {
  /** What is checked out. */
  readonly commit: string;
  /** new: from nothing. recycled: out of what was there. ready: nothing had to be done. */
  readonly how: "new" | "recycled" | "ready";
}

export type Inspection =
  | { readonly kind: "missing" }
  /** A sentence. `prepare` repairs it, unless the folder is somebody else's. */
  | { readonly kind: "broken"; readonly reason: string }
  | {
      readonly kind: "there";
      /** Undefined where HEAD is on no branch. */
      readonly branch: string | undefined;
      readonly head: string;
      /** Whether it was parked, and nobody has committed or checked out anything since. */
      readonly parked: boolean;
      /** Whether anything is uncommitted: changed, staged or untracked. */
      readonly dirty: boolean;
      /** As `git status` counts them: a folder is one. */
      readonly untracked: number;
      /** What was begun and not ended. */
      readonly operation: Operation | undefined;
      /** git: it is at work there, or was killed. person: somebody has locked the worktree. */
      readonly locked: "git" | "person" | undefined;
    };

export type Operation = "merge" | "rebase" | "cherry-pick" | "revert" | "bisect";

export interface CommitAllOrder {
  readonly folder: string;
  /** What was staged and is different in the files is saved as salvage of this task. */
  readonly task: string;
  readonly message: string;
  readonly author: Person;
  /** Milliseconds since 1970. */
  readonly date: number;
}

export interface Uncommitted extends Diff {
  readonly lines: readonly ChangedLines[];
}

export type DeletedBranch =
  | { readonly kind: "deleted" | "gone" }
  /** The folder that has the branch, and is no workspace. */
  | { readonly kind: "checked-out"; readonly folder: string };

export interface TrashOrder {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Milliseconds. */
  readonly keepFor: number;
  /** Bytes. */
  readonly most: number;
  /** Only says what would be deleted. */
  readonly isDry?: boolean;
  /** When it fires, what is left is left for the next time. */
  readonly signal?: AbortSignal;
}

export interface TrashReport {
  readonly deleted: number;
  readonly left: number;
  /** Bytes that are gone, and that are left. */
  readonly freed: number;
  readonly size: number;
  /** Never deleted here: salvaging could not save everything that is in them. */
  readonly held: readonly string[];
}

export interface CopyOrder {
  readonly folder: string;
  /** As in a `.gitignore`, but from the repository's root: `.env`, `certs`, `**` and `*` as usual. */
  readonly patterns: readonly string[];
  /** link: both have the same file, and a change in one is a change in the other. */
  readonly how: "copy" | "link";
}

export interface CopiedFiles {
  readonly copied: readonly FileName[];
  /** Something is there already. */
  readonly kept: readonly FileName[];
  /** Tracked in the workspace, no plain files, or links that lead out of the repository. */
  readonly refused: readonly FileName[];
}

export interface DiskUse {
  /** On the disk. */
  readonly bytes: number;
  readonly files: number;
  /** Whether there is more than was counted. */
  readonly isCut: boolean;
}
