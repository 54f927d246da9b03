import type { Files } from "./list-changes.ts";
import type { GitFolders, Head } from "./read-git-folder.ts";
import type { WorkspaceRecord } from "./records.ts";
import type { Heap } from "./trash/open-heap.ts";

/** What each kind of workspace does in its own way. */
export interface Mechanics {
  readonly kind: "worktree" | "clone";
  find(folder: string, record: WorkspaceRecord | undefined): Promise<Found>;
  /** How git works on its files. `folders` is undefined where there is no working copy yet. */
  filesOf(folder: string, folders: GitFolders | undefined): Promise<Files>;
  /** Another folder that has the branch. */
  useOf(branch: string, folder: string, folders: GitFolders | undefined): Promise<string | undefined>;
  /** Where the branch is; undefined where there is none. */
  tipOf(branch: string, folders: GitFolders | undefined): Promise<string | undefined>;
  /**
   * Whether everything that was committed there stays reachable when the folder goes. `commit` is what will be checked
   * out instead; it must be there.
   */
  isSaved(order: {
    readonly folders: GitFolders | undefined;
    readonly head: Head | undefined;
    readonly commit: string | undefined;
  }): Promise<boolean>;
  /** Makes the branch where it can be made before everything else. Nothing of the folder has been touched yet. */
  begin(order: { readonly branch: string; readonly commit: string }): Promise<void>;
  /** Makes git know the folder, which has no files yet or still those from before. */
  settle(order: Settling): Promise<Settled>;
  /** Makes the branch or the commit what is checked out, once the files are there. */
  seat(order: Seating): Promise<void>;
  /** Where these refs of the workspace are written. Refused where somebody has planted links that lead them elsewhere. */
  refsOf(folder: string, folders: GitFolders, refs: readonly string[]): Promise<Pick<Files, "place" | "env">>;
  /** Makes the folder and its repository name each other, after one of them was moved. Nothing where they do. */
  reconnect(folder: string, record: WorkspaceRecord | undefined): Promise<void>;
  /** Lets git forget the folder, which has gone. */
  forget(folder: string, record: WorkspaceRecord | undefined, heap: Heap): Promise<void>;
  /** Hides task files from git, for every workspace that git looks at in the same way. */
  hideTaskFiles(folders: GitFolders): Promise<void>;
  showTaskFiles(): Promise<void>;
}

export type Found =
  /** No folder, or an empty one. */
  | { readonly kind: "nothing"; readonly folders: GitFolders | undefined }
  | { readonly kind: "foreign"; readonly reason: string }
  | {
      readonly kind: "ours";
      /** Undefined where git does not know it any more. */
      readonly folders: GitFolders | undefined;
      /** What is wrong with it, as a sentence. */
      readonly flaw: string | undefined;
      /** A person has said that it must not be removed. */
      readonly isLocked: boolean;
      /** Whether its making was begun and not ended, so that nobody can have worked there. */
      readonly isHalfMade: boolean;
    };

export interface Settling {
  readonly folder: string;
  readonly found: Exclude<Found, { kind: "foreign" }>;
  readonly record: WorkspaceRecord | undefined;
  /** Undefined where only the commit is. */
  readonly branch: string | undefined;
  /** What is going to be checked out. */
  readonly commit: string;
  readonly heap: Heap;
}

export interface Settled {
  readonly folders: GitFolders | undefined;
  /** Whether files may be there already. */
  readonly hasFiles: boolean;
  /** What goes into the record. */
  readonly known: Pick<WorkspaceRecord, "entry" | "obeyed">;
}

export interface Seating {
  readonly folder: string;
  readonly folders: GitFolders | undefined;
  /** Undefined where only the commit is checked out. */
  readonly branch: string | undefined;
  readonly commit: string;
  readonly base: string;
  readonly baseBranch: string | undefined;
  readonly index: string;
  readonly heap: Heap;
}
