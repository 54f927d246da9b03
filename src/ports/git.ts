import type { ControlRepository } from "./control-repository.ts";
import type { Person } from "./git-names.ts";

/**
 * What git knows and does outside of tasks. Whatever git refuses is thrown as a Fault whose code begins with `git.`:
 * missing, too-old, not-a-repository, foreign-owner, no-commits, shallow, incomplete, bad-ref, ref-moved, locked,
 * checked-out-elsewhere, diverged, in-the-way, remote-refused, remote-unreachable, no-identity, too-much, timeout, stopped, failed.
 */
export interface Git {
  /**
   * The control repository in this folder. It is made where it is missing, for objects like those of the repository
   * `like`; a folder that is there is a whole repository, however often its making was cut short.
   */
  openControl(folder: string, like?: string): Promise<ControlRepository>;
  /** Who commits in this repository, by the user's own configuration. Refused with `git.no-identity`. */
  identityOf(repository: string): Promise<Person>;
  /** Where a remote of this repository is, by the user's own configuration; undefined where there is none of that name. */
  remoteUrl(repository: string, remote: string, way?: "push" | "fetch"): Promise<string | undefined>;
  /**
   * Changes whenever something changes that this repository makes git obey: configuration, hooks, attributes. Runs
   * nothing of it.
   */
  fingerprint(repository: string): Promise<string>;
  /** The same, with what it is made of. Cheap where nothing has changed since it was last asked for. */
  obeyed(repository: string): Promise<Obeyed>;
  /**
   * A checkout of this repository, and no workspace, whose branch was moved by somebody elsewhere, so that its files are
   * those from before; undefined where there is none. Only reads: no git is run.
   */
  leftBehind(repository: string, branch: string, workspaces: string): Promise<LeftBehind | undefined>;
  /**
   * Makes a repository with files out of a remote one. What is in the folder is whole, however often its making was cut
   * short. Refused with `git.in-the-way` where something else is there already.
   */
  clone(order: CloneOrder): Promise<void>;
}

export interface LeftBehind {
  readonly folder: string;
  /** Where the branch was when its files were checked out, and where it is. */
  readonly before: string;
  readonly after: string;
}

/** What a repository makes git obey. */
export interface Obeyed {
  readonly fingerprint: string;
  /** By setting (`core.hookspath`) or by file (`hooks/pre-commit`), each with the hash of its content. */
  readonly parts: Readonly<Record<string, string>>;
}

export interface CloneOrder {
  /** The address of the remote. */
  readonly from: string;
  readonly folder: string;
  readonly signal?: AbortSignal;
}
