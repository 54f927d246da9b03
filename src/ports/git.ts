import type { ControlRepository } from "./control-repository.ts";

export interface Person {
  readonly name: string;
  readonly email: string;
}

/** A file's name in git: any bytes but NUL. In `text`, bytes that are not plain text are escaped as git does. */
export interface FileName {
  readonly text: string;
  readonly bytes: Uint8Array;
}

/**
 * Git operations outside of tasks. Git's refusals are thrown as Faults whose codes begin with `git.`: missing, too-old,
 * not-a-repository, foreign-owner, no-commits, shallow, incomplete, bad-ref, ref-moved, locked, checked-out-elsewhere,
 * diverged, in-the-way, remote-refused, remote-unreachable, no-identity, too-much, timeout, stopped, failed.
 */
export interface Git {
  /**
   * Opens the control repository in this folder, and creates it if it is missing, with the object format of the
   * repository `like`. Creating is atomic: an existing folder is a complete repository, even after a crash.
   */
  openControl(folder: string, like?: string): Promise<ControlRepository>;
  /** The author of commits in this repository, from the user's configuration. Refused with `git.no-identity`. */
  identityOf(repository: string): Promise<Person>;
  /** The address of a remote, from the user's configuration; undefined if there is no remote of that name. */
  remoteUrl(repository: string, remote: string, way?: "push" | "fetch"): Promise<string | undefined>;
  /**
   * A hash of everything in this repository that git would obey: configuration, hooks, attributes. Runs nothing of it.
   */
  fingerprint(repository: string): Promise<string>;
  /** The same, with its parts. Cheap if nothing has changed since the last call. */
  obeyed(repository: string): Promise<Obeyed>;
  /**
   * A checkout of this repository, not a workspace, whose branch was moved or deleted from elsewhere, so that its files
   * are outdated; undefined if there is none. Reads reflogs; git is run only if they show that the branch was moved.
   */
  leftBehind(repository: string, branch: string, workspaces: string): Promise<LeftBehind | undefined>;
  /**
   * Who moved a branch to this commit, as far as reflogs show. Only reads files. A move that leaves no trace in the
   * reflog of a checkout, such as `git branch --force`, has no known author.
   */
  whoMoved(repository: string, branch: string, commit: string, workspaces: string): Promise<WhoMoved>;
  /** Whether a remote-tracking branch contains a commit. */
  isInRemote(repository: string, commit: string): Promise<boolean>;
  /** The commit that a remote's branch had at the user's last fetch or push; undefined if that is not known. */
  remoteBranchAt(repository: string, remote: string, branch: string): Promise<string | undefined>;
  /** Whether this repository has a branch, and which one is checked out. Only reads files; undefined if it cannot. */
  lookAtBranch(repository: string, branch: string): Promise<LookedAtBranch | undefined>;
  /** The branches of this repository that git cannot read; everything else passes over them. */
  brokenBranches(repository: string): Promise<readonly BrokenBranch[]>;
  /** Whether a workspace's branch has not moved since it was created, according to the reflogs. Only reads files. */
  isAtItsStart(folder: string, branch: string): Promise<boolean>;
  /**
   * Clones a remote repository with its files. Atomic: an existing folder is a complete clone, even after a crash.
   * Refused with `git.in-the-way` if the folder contains something else.
   */
  clone(order: CloneOrder): Promise<void>;
}

export interface BrokenBranch {
  readonly name: string;
  /** What is wrong with it, as the end of a sentence. */
  readonly reason: string;
  /** The command that removes it, and restores it where its last commit is known. */
  readonly fix: string;
}

export interface LookedAtBranch {
  readonly isThere: boolean;
  /** Undefined if no branch is checked out. */
  readonly checkedOut: string | undefined;
}

export interface WhoMoved {
  /** The branch was moved in a checkout that is not a workspace. */
  readonly isUser: boolean;
  /** The daemon has restored it. */
  readonly isOurs: boolean;
  /** It is gone, because it was renamed. */
  readonly isRenamed: boolean;
  /** When it was moved, in milliseconds since 1970, as exact as seconds; missing if no reflog has the move. */
  readonly at?: number;
  /** The workspaces in which it was moved while it was checked out there. */
  readonly movers: readonly string[];
  /** The workspaces that had it checked out at any time. */
  readonly visitors: readonly string[];
  /** The other branches, and the folders of workspaces, in which the commit was made. */
  readonly branches: readonly string[];
  readonly workspaces: readonly string[];
}

export interface LeftBehind {
  readonly folder: string;
  /** The branch's commit when its files were checked out, and its present commit; undefined if it was deleted. */
  readonly before: string;
  readonly after: string | undefined;
  /** apart: the branches have diverged. */
  readonly way: "forward" | "back" | "apart" | "deleted";
  /** The other branches, and the folders of workspaces, in which its present commit was made. */
  readonly branches: readonly string[];
  readonly workspaces: readonly string[];
}

/** The settings, hooks and attributes of a repository that git would obey. */
export interface Obeyed {
  readonly fingerprint: string;
  /** The hash of the content, by setting (`core.hookspath`) or by file (`hooks/pre-commit`). */
  readonly parts: Readonly<Record<string, string>>;
  /**
   * The parts that only name remotes on a network, and their branches. None of them can make git run something; a remote
   * that is a folder can, because git runs its hooks at a push. Missing in old records.
   */
  readonly remotes?: readonly string[];
}

export interface CloneOrder {
  /** The address of the remote. */
  readonly from: string;
  readonly folder: string;
  readonly signal?: AbortSignal;
}
