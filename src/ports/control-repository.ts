import type { FileName, Person } from "./git.ts";
import type { FilePatches } from "./patch.ts";

/**
 * A project's bare repository, which only the daemon writes to. Commits are given by full id, refs by full name. Every
 * method is idempotent and may be repeated after a crash. A commit that a ref pointed to stays reachable under
 * `refs/signalbox/kept/`; only `dropSalvaged` drops commits, and `dropContainedRefs` drops refs whose commits a branch
 * contains.
 */
export interface ControlRepository extends FilePatches {
  readonly folder: string;

  /**
   * Fetches a branch of a workspace as `taskRef(task)`. Runs no hook or filter that an agent may have planted there.
   */
  collect(order: CollectOrder): Promise<Collected>;
  /** Fetches all branches of a repository as `refs/remotes/<name>/*`. Branches deleted there are deleted here too. */
  syncFrom(order: SyncOrder): Promise<Synced>;
  /**
   * Saves everything in a workspace that the control repository lacks: uncommitted files, and commits that no ref here
   * reaches. The workspace's files, index and refs do not change, and no planted hook or filter runs.
   */
  salvage(order: SalvageOrder): Promise<Salvage>;

  /**
   * The submodules that changed between two commits and that `to` has at commits which no remote of theirs has, as far
   * as the workspace in this folder knows.
   */
  unpushedModules(order: {
    readonly folder: string;
    readonly from: string;
    readonly to: string;
  }): Promise<readonly FileName[]>;
  /** All salvages, the newest first. */
  listSalvaged(): Promise<readonly Salvaged[]>;
  /** Writes the files of a commit, byte for byte, into a folder that must not exist yet. */
  restoreFiles(commit: string, folder: string): Promise<void>;
  /** Deletes a salvage's ref if it is at this commit. Does nothing if there is no such ref. */
  dropSalvaged(ref: string, commit: string): Promise<void>;

  /** The refs that were made for tasks, except salvages. */
  listTaskRefs(): Promise<readonly TaskRef[]>;
  /** Deletes the refs whose commit is contained in one of `into`. Returns how many. */
  dropContainedRefs(refs: readonly TaskRef[], into: readonly string[]): Promise<number>;

  /** Undefined if there is no such ref. */
  commitAt(ref: string): Promise<string | undefined>;
  /** A commit counts as its own ancestor. */
  isAncestor(ancestor: string, commit: string): Promise<boolean>;
  /** Undefined if the two histories have no common commit. */
  mergeBase(a: string, b: string): Promise<string | undefined>;
  /** How many commits `to` has that `from` lacks. */
  countCommits(from: string, to: string): Promise<number>;
  changedFiles(from: string, to: string): Promise<readonly ChangedFile[]>;
  /** At most `most` bytes of it. */
  diff(from: string, to: string, most: number): Promise<Diff>;
  changedLines(from: string, to: string): Promise<readonly ChangedLines[]>;
  /** The merge that brought `commit` into a branch: the branch's commits before and after it. Undefined if no merge did. */
  mergeOf(commit: string, tip: string): Promise<{ readonly before: string; readonly after: string } | undefined>;
  /** The commits that `commit` has and none of `without` has, each with its parents. */
  listCommits(commit: string, without: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Undefined if there is no such file. Refused with `git.too-much` beyond `most` bytes. */
  fileAt(commit: string, path: string | Uint8Array, most: number): Promise<Uint8Array | undefined>;

  /** The entries of one folder of a commit; the root is "". Empty if there is no such folder. */
  listFiles(commit: string, folder: string): Promise<readonly TreeFile[]>;
  /** Creates a commit on top of another one with some files replaced, and moves no ref. The same order gives the same commit. */
  replaceFiles(order: ReplaceOrder): Promise<string>;

  /** Creates the merge commit, and moves no ref. The same order gives the same commit. */
  merge(order: MergeOrder): Promise<MergeResult>;
  /** Merges each onto the result of the one before, faster than `merge`. A commit that cannot be merged is left out. */
  mergeAll(order: MergeAllOrder): Promise<readonly MergeAnswer[]>;
  /** The conflicts between a commit and each of the others; undefined where they merge cleanly. */
  predictConflicts(commit: string, others: readonly string[]): Promise<readonly (Conflict | undefined)[]>;
  /** Creates a commit on `onto` that reverts the changes between two commits, and moves no ref. */
  revertMerge(order: RevertOrder): Promise<RevertResult>;
  /** Moves a ref if it is still at `from` (undefined: if it does not exist). Otherwise refused with `git.ref-moved`. */
  moveRef(ref: string, to: string, from: string | undefined): Promise<void>;

  /** Moves the user's branch to the commit, or leaves it where it is; atomic. */
  publish(order: PublishOrder): Promise<PublishResult>;
  /**
   * Undoes what an interrupted `publish` has left in checkouts of the branch. Returns what could not be undone, as sentences
   * for a person; empty if nothing is left.
   */
  undoUpdate(order: UndoUpdateOrder): Promise<string>;
  /**
   * Recreates a deleted branch of the user's, even if a worktree still has it checked out. No file changes. Does
   * nothing if the branch exists. With `from` it moves an existing branch back from that commit (empty: from nowhere): refused
   * with `git.ref-moved` if the branch is elsewhere, and with `git.checked-out-elsewhere` if a checkout has files of it.
   */
  restoreBranch(order: RestoreOrder): Promise<void>;
  /** Gives the user's repository a commit with all that it needs, so that it can be named there by its id. Moves no ref. */
  giveCommit(order: GiveOrder): Promise<void>;
  /** What `publish` would wait for, as far as that is known beforehand. Changes nothing. */
  inTheWay(order: PublishOrder): Promise<Waits | undefined>;
  /**
   * Refused with `git.ref-moved` if the remote's branch is elsewhere, with `git.remote-refused` by the remote itself.
   */
  pushBranch(order: PushOrder): Promise<void>;
  /**
   * Deletes a remote's branch if it is still at that commit, else refused with `git.ref-moved`. A missing branch is
   * fine.
   */
  deleteRemoteBranch(order: RemoteBranchOrder): Promise<void>;

  /**
   * Packs loose objects and refs once there are enough to slow git down. No object is deleted, not even an unreachable
   * one. True if there was something to do.
   */
  tidy(order: Stoppable): Promise<boolean>;
}

/** The ref of a task's collected work. */
export function taskRef(task: string): string {
  return `refs/signalbox/tasks/${task}`;
}

/** The ref of the commit that a task's work began at. */
export function beganRef(task: string): string {
  return `refs/signalbox/began/${task}`;
}

/** The ref of a commit that was found on a parent's branch, and that no merge has put there. */
export function asideRef(task: string, commit: string): string {
  return `refs/signalbox/aside/${task}/${commit}`;
}

/** A ref that was made for a task. */
export interface TaskRef {
  readonly ref: string;
  readonly task: string;
  readonly commit: string;
}

interface Stoppable {
  /** Aborting it stops git; the Fault is `git.stopped`. */
  readonly signal?: AbortSignal;
}

export interface CollectOrder extends Stoppable {
  readonly folder: string;
  readonly branch: string;
  readonly task: string;
  /** The branch's commit when it was just read; if that was collected before, it need not be collected again. */
  readonly seenAt?: string;
  /** Refused with `git.lacks-commit` unless the branch contains this commit. */
  readonly contains?: string;
}

/** The code of the Fault for a branch that lacks a required commit. */
export const lacksCommit = "git.lacks-commit";

export interface Collected {
  readonly commit: string;
  /** The ref's commit before. */
  readonly previous: string | undefined;
}

export interface SyncOrder extends Stoppable {
  /** The folder of a repository, or the address of a remote one. */
  readonly from: string;
  /** The name under which the branches are stored: `user`, `origin`. */
  readonly name: string;
  /** The branches that are needed; others may stay at their last known commits. All branches if missing. */
  readonly only?: readonly string[];
  /** Called before the sync is recorded: after a crash in between, the next sync finds the same moves again. */
  noticed?(synced: Synced): Promise<void>;
}

export interface Synced {
  /** By name. */
  readonly branches: Readonly<Record<string, string>>;
  /** The branches that were moved or deleted since the last sync. The commits that they had stay reachable here. */
  readonly moves: readonly BranchMove[];
  /** When all branches were last read before this; missing if they never were. */
  readonly since?: number;
}

export interface BranchMove {
  readonly branch: string;
  readonly before: string;
  /** Undefined if the branch was deleted. */
  readonly after: string | undefined;
  /** forward: the new commit contains the old one. back: the other way round. apart: neither contains the other. */
  readonly way: "forward" | "back" | "apart" | "deleted";
  /** Whether no branch contains the old commit any more. */
  readonly isLost: boolean;
}

export interface SalvageOrder extends Stoppable {
  readonly folder: string;
  readonly task: string;
  /** Milliseconds since 1970; part of the ref's name. */
  readonly at: number;
  /** Whether an identical salvage of another task is enough. */
  readonly anybodys?: boolean;
  /**
   * The repository that the workspace is a worktree of, if it is one: git's record there is saved even if the folder is
   * gone or no longer points to the repository. Without it, only the files of such a folder are saved.
   */
  readonly repository?: string;
}

export interface Salvage {
  /** Undefined if the control repository had everything already. */
  readonly saved: { readonly ref: string; readonly commit: string } | undefined;
  /** Ignored files, a whole folder as one entry. They are not saved. */
  readonly ignored: readonly IgnoredFile[];
  /**
   * Nested repositories, such as submodules. Their commits and files that exist nowhere else are part of the salvage.
   */
  readonly repositories: readonly FileName[];
  /**
   * Files that could not be read or that git refuses; nested repositories that are too large or that git cannot read.
   * They are not saved.
   */
  readonly refused: readonly FileName[];
}

export interface Salvaged {
  readonly ref: string;
  readonly commit: string;
  readonly task: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The number of files that differ from the checked-out commit, and their size in bytes. */
  readonly files: number;
  readonly size: number;
  /** The subject of the commit that was checked out; empty if there was none. */
  readonly on: string;
  /** Nested repositories, such as submodules, that had commits or files found nowhere else. */
  readonly repositories: readonly string[];
  /** Why it cannot be read; then only its name is known. Missing if it can be read. */
  readonly problem?: string;
}

export interface IgnoredFile {
  readonly path: FileName;
  /** In bytes; for a very large folder, the part that was counted. */
  readonly size: number;
  readonly isFolder: boolean;
}

export interface ChangedFile {
  readonly path: FileName;
  readonly change: "added" | "deleted" | "modified" | "renamed" | "type";
  /** The old name of a renamed file. */
  readonly from: FileName | undefined;
}

/** An entry of a folder in a commit. */
export interface TreeFile {
  readonly name: string;
  /** Git's own: `100755` for a program, `120000` for a link, `040000` for a folder. */
  readonly mode: string;
  /** Identifies the content. */
  readonly id: string;
}

export interface ReplaceOrder {
  readonly commit: string;
  /** The commit that files without a text are taken from; a file that it lacks is removed. */
  readonly from: string;
  readonly files: readonly { readonly path: string; readonly text: string | undefined }[];
}

/** How many lines of a file were added and deleted. Undefined for a binary file. */
export interface ChangedLines extends ChangedFile {
  readonly added: number | undefined;
  readonly deleted: number | undefined;
}

export interface Diff {
  readonly bytes: Uint8Array;
  readonly isCut: boolean;
}

interface CommitOrder {
  readonly message: string;
  readonly author: Person;
  /** Milliseconds since 1970. */
  readonly date: number;
}

export interface MergeOrder extends CommitOrder {
  readonly onto: string;
  readonly branch: string;
  /** merge: always a merge commit. ff: never; refused with `git.diverged` if a merge would be needed. */
  readonly strategy: "merge" | "ff";
}

export type MergeResult =
  | { readonly kind: "merged"; readonly commit: string; readonly tree: string }
  | { readonly kind: "fast-forward"; readonly commit: string }
  | { readonly kind: "up-to-date" }
  | Conflict;

export interface MergeAllOrder {
  readonly onto: string;
  readonly author: Person;
  readonly entries: readonly Pick<MergeOrder, "branch" | "strategy" | "message" | "date">[];
}

/** diverged: it cannot be fast-forwarded. */
export type MergeAnswer = MergeResult | { readonly kind: "diverged" };

export type Prediction = { readonly kind: "clean"; readonly tree: string } | Conflict;

export interface Conflict {
  readonly kind: "conflict";
  readonly files: readonly ConflictFile[];
  /** Git's own messages about it. */
  readonly text: string;
  /** The merged files, with conflict markers; for `fileAt`. */
  readonly tree: string;
}

export interface ConflictFile {
  readonly path: FileName;
  /** Git's own word: `contents`, `modify/delete`, `binary`, … */
  readonly kind: string;
}

export interface RevertOrder extends CommitOrder {
  /** The branch's present commit. */
  readonly onto: string;
  /** The branch's commits before and after the merge. */
  readonly before: string;
  readonly after: string;
}

export type RevertResult =
  | { readonly kind: "reverted"; readonly commit: string; readonly tree: string }
  | { readonly kind: "up-to-date" }
  | Conflict;

export interface PublishOrder extends Stoppable {
  /** The user's repository: its folder, or that of any worktree of it. */
  readonly repository: string;
  readonly branch: string;
  readonly commit: string;
  /** The expected commit of the branch; undefined to create the branch. */
  readonly expected: string | undefined;
  /** Worktrees in this folder are Signalbox's own, and are left alone. */
  readonly workspaces?: string;
}

export interface UndoUpdateOrder extends Pick<PublishOrder, "repository" | "branch"> {
  /** Called before git runs in the user's repository, which is only if something was begun there. */
  check?(): Promise<void>;
}

export interface RestoreOrder extends Omit<PublishOrder, "expected" | "workspaces"> {
  readonly from?: string;
}

export type GiveOrder = Pick<PublishOrder, "repository" | "commit" | "signal">;

export type PublishResult =
  /** The branch contains the commit; `at` is the branch's commit. */
  | { readonly kind: "published"; readonly at: string }
  | { readonly kind: "moved"; readonly to: string | undefined }
  | Waits;

/** Something of the user's blocks the update, and nothing was changed. */
export interface Waits {
  readonly kind: "waits";
  /**
   * files: these have the user's own changes. locked: git is working there, or was killed. operation: a merge or rebase
   * is in progress. checked-out: the branch is checked out in a worktree that must not be touched, or in several.
   */
  readonly reason: "files" | "locked" | "operation" | "checked-out";
  readonly files: readonly FileName[];
  /** A sentence, with what to do. */
  readonly text: string;
}

export interface PushOrder extends Stoppable {
  /** The address of the remote. */
  readonly remote: string;
  readonly branch: string;
  readonly commit: string;
  /** The expected commit of the remote's branch; undefined to create the branch. */
  readonly expected: string | undefined;
  /** Whether only Signalbox uses the branch, so that it may be force-pushed. */
  readonly isOwn: boolean;
}

export interface RemoteBranchOrder extends Stoppable {
  /** The address of the remote. */
  readonly remote: string;
  readonly branch: string;
  readonly expected: string;
}
