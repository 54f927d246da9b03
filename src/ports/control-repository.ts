import type { FileName, Person } from "./git-names.ts";

/**
 * A project's bare repository that the engine alone writes. Commits are given by their whole ids, refs by their whole
 * names. Everything here may be repeated after a crash. No tip that a ref had is ever dropped: what a ref leaves behind
 * stays reachable under `refs/signalbox/kept/`; only `dropSalvaged` lets something go, and `dropContainedRefs` names for
 * what a branch contains.
 */
export interface ControlRepository {
  readonly folder: string;

  /** Brings a branch of a workspace in as `taskRef(task)`. Nothing runs that somebody may have planted there. */
  collect(order: CollectOrder): Promise<Collected>;
  /** Brings all branches of a repository in, as `refs/remotes/<name>/*`. Those that are gone there go here too. */
  syncFrom(order: SyncOrder): Promise<Synced>;
  /**
   * Saves what a workspace has and the control repository has not: everything uncommitted, and commits that no ref here
   * reaches. Neither files nor index nor refs of the workspace change, and nothing runs that was planted there.
   */
  salvage(order: SalvageOrder): Promise<Salvage>;

  /**
   * Submodules that were changed between two commits, in the last of which they are at commits that no remote of theirs has, as
   * far as the workspace in this folder knows.
   */
  unpushedModules(order: {
    readonly folder: string;
    readonly from: string;
    readonly to: string;
  }): Promise<readonly FileName[]>;
  /** Everything that was salvaged, the newest first. */
  listSalvaged(): Promise<readonly Salvaged[]>;
  /** Writes the files of a commit into a folder that must not be there yet, as their bytes are. */
  restoreFiles(commit: string, folder: string): Promise<void>;
  /** Forgets what was salvaged under a ref that is at this commit. Nothing where there is no such ref. */
  dropSalvaged(ref: string, commit: string): Promise<void>;

  /** The refs that were made for tasks, except what was salvaged. */
  listTaskRefs(): Promise<readonly TaskRef[]>;
  /** Deletes those of the refs whose commit one of `into` contains. Gives how many. */
  dropContainedRefs(refs: readonly TaskRef[], into: readonly string[]): Promise<number>;

  /** Undefined where there is no such ref. */
  commitAt(ref: string): Promise<string | undefined>;
  /** A commit counts as its own ancestor. */
  isAncestor(ancestor: string, commit: string): Promise<boolean>;
  /** Undefined where two histories have nothing in common. */
  mergeBase(a: string, b: string): Promise<string | undefined>;
  /** How many commits `to` has that `from` has not. */
  countCommits(from: string, to: string): Promise<number>;
  changedFiles(from: string, to: string): Promise<readonly ChangedFile[]>;
  /** At most `most` bytes of it. */
  diff(from: string, to: string, most: number): Promise<Diff>;
  changedLines(from: string, to: string): Promise<readonly ChangedLines[]>;
  /** Where a branch was before a commit that it contains came in with a merge; undefined where it came by itself. */
  beforeMergeOf(commit: string, tip: string): Promise<string | undefined>;
  /** Undefined where there is no such file. Refused with `git.too-much` beyond `most` bytes. */
  fileAt(commit: string, path: string | Uint8Array, most: number): Promise<Uint8Array | undefined>;

  /** Makes the merged commit, and moves nothing. The same order gives the same commit. */
  merge(order: MergeOrder): Promise<MergeResult>;
  /** `merge` of each onto what the one before came to, in less time. What cannot be merged is left out. */
  mergeAll(order: MergeAllOrder): Promise<readonly MergeAnswer[]>;
  /** What a commit and each of the others would conflict in; undefined for those that it goes together with. */
  predictConflicts(commit: string, others: readonly string[]): Promise<readonly (Conflict | undefined)[]>;
  /** Makes a commit on `onto` that takes back what came in between two commits, and moves nothing. */
  revertMerge(order: RevertOrder): Promise<RevertResult>;
  /** Moves a ref if it is still at `from` (undefined: if it is not there yet). Refused with `git.ref-moved`. */
  moveRef(ref: string, to: string, from: string | undefined): Promise<void>;

  /** The user's branch ends at the commit, or it has not moved. */
  publish(order: PublishOrder): Promise<PublishResult>;
  /**
   * Makes a branch of the user's again that is gone, also where a worktree still counts on it. No file changes. Nothing
   * where the branch is there.
   */
  restoreBranch(order: Omit<PublishOrder, "expected" | "workspaces">): Promise<void>;
  /** What `publish` would wait for, as far as that can be told beforehand. Changes nothing. */
  inTheWay(order: PublishOrder): Promise<Waits | undefined>;
  /** Refused with `git.ref-moved` where the remote's branch is elsewhere, with `git.remote-refused` by the remote itself. */
  pushBranch(order: PushOrder): Promise<void>;
  /** Deletes a remote's branch that is still at that commit; one that is gone is fine. Refused with `git.ref-moved`. */
  deleteRemoteBranch(order: RemoteBranchOrder): Promise<void>;

  /**
   * Brings what lies in many small files together, where there are so many that they make git slow. No object goes away,
   * also none that no ref reaches. True where there was something to do.
   */
  tidy(order: Stoppable): Promise<boolean>;
}

/** Where a task's collected work is. */
export function taskRef(task: string): string {
  return `refs/signalbox/tasks/${task}`;
}

/** A ref that was made for a task. */
export interface TaskRef {
  readonly ref: string;
  readonly task: string;
  readonly commit: string;
}

interface Stoppable {
  /** When it fires, git is stopped, and the Fault is `git.stopped`. */
  readonly signal?: AbortSignal;
}

export interface CollectOrder extends Stoppable {
  readonly folder: string;
  readonly branch: string;
  readonly task: string;
  /** Where the branch was just seen; what was collected up to there before need not be again. */
  readonly seenAt?: string;
  /** Nothing is collected, which is refused with `git.lacks-commit`, unless the branch contains this commit. */
  readonly contains?: string;
}

/** The code of the Fault for a branch that does not contain what it should. */
export const lacksCommit = "git.lacks-commit";

export interface Collected {
  readonly commit: string;
  /** Where the ref was before. */
  readonly previous: string | undefined;
}

export interface SyncOrder extends Stoppable {
  /** The folder of a repository, or the address of a remote one. */
  readonly from: string;
  /** What the branches are filed under: `user`, `origin`. */
  readonly name: string;
  /** The branches that somebody asks for: others may stay as they were seen last. All of them where it is missing. */
  readonly only?: readonly string[];
}

export interface Synced {
  /** By name. */
  readonly branches: Readonly<Record<string, string>>;
}

export interface SalvageOrder extends Stoppable {
  readonly folder: string;
  readonly task: string;
  /** Milliseconds since 1970; part of the ref's name. */
  readonly at: number;
  /** Whether it is enough that the same was salvaged for another task. */
  readonly anybodys?: boolean;
  /**
   * The repository that the workspace is a worktree of, if it is one: what git knows of it there is saved also where the
   * folder is gone, or does not lead there any more. Without it such a folder has only its files.
   */
  readonly repository?: string;
}

export interface Salvage {
  /** Undefined where there was nothing that the control repository does not have. */
  readonly saved: { readonly ref: string; readonly commit: string } | undefined;
  /** What git ignores there, whole folders as one. It is saved nowhere. */
  readonly ignored: readonly IgnoredFile[];
  /** Repositories inside of the workspace, such as submodules. What only they have is part of what is saved. */
  readonly repositories: readonly FileName[];
  /**
   * Files that could not be read, or that git does not take; repositories inside that are too large, or that git cannot
   * read. They are saved nowhere.
   */
  readonly refused: readonly FileName[];
}

export interface Salvaged {
  readonly ref: string;
  readonly commit: string;
  readonly task: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What was changed or new against the commit that was checked out, and how large that is in bytes. */
  readonly files: number;
  readonly size: number;
  /** The first line of the commit that was checked out; empty where there was none. */
  readonly on: string;
  /** Repositories that were inside, such as submodules, with commits or files that nobody else has. */
  readonly repositories: readonly string[];
  /** Why it cannot be read; then nothing else is known but its name. Missing where it can. */
  readonly problem?: string;
}

export interface IgnoredFile {
  readonly path: FileName;
  /** In bytes; of a very large folder, what was counted. */
  readonly size: number;
  readonly isFolder: boolean;
}

export interface ChangedFile {
  readonly path: FileName;
  readonly change: "added" | "deleted" | "modified" | "renamed" | "type";
  /** The old name of a renamed file. */
  readonly from: FileName | undefined;
}

/** How many lines of a file are new, and how many are gone. Undefined where it does not consist of lines. */
export interface ChangedLines {
  readonly path: FileName;
  /** The old name of a renamed file. */
  readonly from: FileName | undefined;
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
  /** merge: always a merge commit. ff: never one; refused with `git.diverged` where that takes a merge. */
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
  /** What git says about it. */
  readonly text: string;
  /** The files as far as they could be merged, with the usual markers; for `fileAt`. */
  readonly tree: string;
}

export interface ConflictFile {
  readonly path: FileName;
  /** In git's own word: `contents`, `modify/delete`, `binary`, … */
  readonly kind: string;
}

export interface RevertOrder extends CommitOrder {
  /** Where the branch is now. */
  readonly onto: string;
  /** Where it was before the merge, and where the merge took it. */
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
  /** Where the branch is believed to be; undefined where it is to be made. */
  readonly expected: string | undefined;
  /** Worktrees below this folder are not the user's, and are left alone. */
  readonly workspaces?: string;
}

export type PublishResult =
  /** The branch contains the commit; `at` is where it is. */
  | { readonly kind: "published"; readonly at: string }
  | { readonly kind: "moved"; readonly to: string | undefined }
  | Waits;

/** Something of the user's is in the way, and nothing was changed. */
export interface Waits {
  readonly kind: "waits";
  /**
   * files: these have changes of the user's own. locked: git is at work there, or was killed. operation: a merge or rebase
   * is under way. checked-out: the branch is in a worktree that is not to be touched, or in several.
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
  /** Where the remote's branch is believed to be; undefined where it is to be made. */
  readonly expected: string | undefined;
  /** Whether the branch is ours alone, so that it may be moved to something that does not contain what it was at. */
  readonly isOwn: boolean;
}

export interface RemoteBranchOrder extends Stoppable {
  /** The address of the remote. */
  readonly remote: string;
  readonly branch: string;
  readonly expected: string;
}
