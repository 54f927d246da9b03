import { Fault } from "../../../fault.ts";
import type { GitFolders, Head } from "../git-folder.ts";
import { fileName } from "../names.ts";
import type { Files } from "./changes.ts";
import type { Look } from "./inspect.ts";
import type { Heap } from "./trash.ts";
import type { WorkspaceRecord } from "./workshop.ts";

// The faults that both kinds of workspaces throw, and the interface by which the kinds differ.

export function foreign(folder: string, reason: string): Fault {
  return new Fault("workspace.foreign", `${folder} is not a workspace of Signalbox. ${reason}`, {
    hint: "Move it away, or use another folder.",
  });
}

export function dirty(folder: string, { changed, others, operation }: Look): Fault {
  const names = [...changed, ...others].map((name) => fileName(name).text);
  const what = names.length > 0 ? list(names) : operation === undefined ? "staged files" : `a ${operation}`;
  return new Fault("workspace.dirty", `${folder} has uncommitted work: ${what}.`, {
    hint: "Commit or salvage it first.",
  });
}

export function unsaved(folder: string): Fault {
  return new Fault("workspace.unsaved", `${folder} has commits that no branch outside of it contains.`, {
    hint: "Collect or salvage them first.",
  });
}

export function branchElsewhere(branch: string, folder: string): Fault {
  return new Fault("workspace.branch-elsewhere", `The branch ${JSON.stringify(branch)} is checked out in ${folder}.`, {
    retry: "later",
    hint: "Check out another branch there. If the folder was deleted: git worktree prune",
  });
}

export function branchTaken(branch: string): Fault {
  return new Fault("workspace.branch-taken", `The branch ${JSON.stringify(branch)} exists already.`, {
    hint: "Choose another name, or continue that branch.",
  });
}

export function detached(folder: string, purpose: string): Fault {
  return new Fault("workspace.detached", `${folder} has no branch checked out, so there is no branch to ${purpose}.`, {
    hint: "Check out a branch there, or create one.",
  });
}

export function noBranch(branch: string): Fault {
  return new Fault("workspace.no-branch", `There is no branch ${JSON.stringify(branch)}.`, {
    hint: "List the branches: git branch --all",
  });
}

export function operating(folder: string, operation: string): Fault {
  return new Fault("workspace.operation", `A ${operation} is under way in ${folder}.`, {
    hint: `Finish it there, or abort it: git ${operation} ${operation === "bisect" ? "reset" : "--abort"}`,
  });
}

export function inTheWay(folder: string, files: readonly Uint8Array[]): Fault {
  const names = list(files.map((file) => fileName(file).text));
  return new Fault("workspace.in-the-way", `Files in ${folder} are in the way of the branch: ${names}.`, {
    hint: "Move them away; they are untracked.",
  });
}

export function notThere(folder: string): Fault {
  return new Fault("workspace.missing", `${folder} is not a workspace, or is damaged.`, { hint: "Prepare it again." });
}

function list(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

/** What differs between the two kinds of workspaces. */
export interface Mechanics {
  readonly kind: "worktree" | "clone";
  find(folder: string, record: WorkspaceRecord | undefined): Promise<Found>;
  /** How to run git on its files. `folders` is undefined if there is no working copy yet. */
  filesOf(folder: string, folders: GitFolders | undefined): Promise<Files>;
  /** Another folder that has the branch checked out. */
  useOf(branch: string, folder: string, folders: GitFolders | undefined): Promise<string | undefined>;
  /** The commit of the branch; undefined if there is no such branch. */
  tipOf(branch: string, folders: GitFolders | undefined): Promise<string | undefined>;
  /**
   * Whether all commits of the workspace stay reachable when the folder is removed. `commit` will be checked out
   * instead; it must exist.
   */
  isSaved(order: {
    readonly folders: GitFolders | undefined;
    readonly head: Head | undefined;
    readonly commit: string | undefined;
  }): Promise<boolean>;
  /** Creates the branch, if that is possible before the folder is changed. */
  begin(order: { readonly branch: string; readonly commit: string }): Promise<void>;
  /** Registers the folder with git. It has no files yet, or still those of the last task. */
  settle(order: Settling): Promise<Settled>;
  /** Points HEAD to the branch or the commit, once the files are written. */
  seat(order: Seating): Promise<void>;
  /** Where these refs of the workspace are written. Throws if an agent has planted links that lead elsewhere. */
  refsOf(folder: string, folders: GitFolders, refs: readonly string[]): Promise<Pick<Files, "place" | "env">>;
  /** Makes the folder and its repository point to each other, after one of them was moved. Idempotent. */
  reconnect(folder: string, record: WorkspaceRecord | undefined): Promise<void>;
  /** Removes git's record of a folder that was removed. */
  forget(folder: string, record: WorkspaceRecord | undefined, heap: Heap): Promise<void>;
  /** Hides task files from git, in every workspace that shares the exclude file. */
  hideTaskFiles(folders: GitFolders): Promise<void>;
  showTaskFiles(): Promise<void>;
}

export type Found =
  /** There is no folder, or it is empty. */
  | { readonly kind: "nothing"; readonly folders: GitFolders | undefined }
  | { readonly kind: "foreign"; readonly reason: string }
  | {
      readonly kind: "ours";
      /** Undefined if its git folder is gone. */
      readonly folders: GitFolders | undefined;
      /** What is wrong with it, as a sentence. */
      readonly flaw: string | undefined;
      /** A person has locked it against removal. */
      readonly isLocked: boolean;
      /** Whether its creation was interrupted, so that no agent can have worked there. */
      readonly isHalfMade: boolean;
    };

export interface Settling {
  readonly folder: string;
  readonly found: Exclude<Found, { kind: "foreign" }>;
  readonly record: WorkspaceRecord | undefined;
  /** Undefined if only the commit is checked out. */
  readonly branch: string | undefined;
  /** The commit that will be checked out. */
  readonly commit: string;
  readonly heap: Heap;
}

export interface Settled {
  readonly folders: GitFolders | undefined;
  /** Whether the folder may have files already. */
  readonly hasFiles: boolean;
  /** Goes into the record. */
  readonly known: Pick<WorkspaceRecord, "entry" | "obeyed">;
}

export interface Seating {
  readonly folder: string;
  readonly folders: GitFolders | undefined;
  /** Undefined if HEAD will be detached. */
  readonly branch: string | undefined;
  readonly commit: string;
  readonly base: string;
  readonly baseBranch: string | undefined;
  readonly showsAll: boolean;
  readonly index: string;
  readonly heap: Heap;
}
