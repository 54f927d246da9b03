import { type Commits, changedPaths, createCommits } from "./commits.ts";

/** A folder that somebody works in. */
export interface Folder {
  readonly path: string;
  readonly kind: "worktree" | "clone";
  /** Undefined where HEAD is on no branch; then `detached` is the commit. */
  branch: string | undefined;
  detached: string;
  files: Map<string, string>;
  /** Files of the task, which git does not see, by their names. */
  readonly taskFiles: Map<string, string>;
  /** A clone's own branches. */
  readonly own: Map<string, string>;
  /** The commit that it was parked at. */
  readonly parkedAt?: string;
}

/** The repositories of one project in memory: the user's, the control repository, and the working copies. */
export interface Repositories {
  readonly commits: Commits;
  /** The branches of the user's repository, which worktrees share. */
  readonly branches: Map<string, string>;
  /** Paths with changes of the user's own in the user's checkout. */
  readonly usersChanges: Set<string>;
  /** The refs of the control repository. */
  readonly refs: Map<string, string>;
  /** Where those that were moved have been before. */
  readonly previous: ReadonlyMap<string, string>;
  readonly folders: Map<string, Folder>;
  /** Contents of files that were moved to the trash. */
  readonly trash: Set<string>;
  head(folder: Folder): string;
  setHead(folder: Folder, commit: string): void;
  isDirty(folder: Folder): boolean;
  /** Contents that are in a folder's files and not in the commit that is checked out. */
  uncommitted(folder: Folder): readonly string[];
  /** Moves a ref of the control repository; where it was before stays reachable. */
  moveRef(ref: string, to: string): void;
  /** Where refs, branches and working copies are now. */
  tips(): ReadonlySet<string>;
  /** Whether some ref, branch or working copy still has a commit. */
  isReachable(commit: string, tips?: ReadonlySet<string>): boolean;
  /** Whether a content is in some commit that is reachable, in a folder, or in the trash. */
  hasContent(content: string): boolean;
}

export function createRepositories(defaultBranch: string): Repositories {
  const commits = createCommits();
  const first = commits.add([], new Map([["recipe.md", "beans"]]), "first");
  const branches = new Map([[defaultBranch, first]]);
  const refs = new Map<string, string>();
  const previous = new Map<string, string>();
  const folders = new Map<string, Folder>();
  const trash = new Set<string>();
  const tipsOf = (folder: Folder) => (folder.kind === "clone" ? folder.own : branches);
  const head = (folder: Folder) =>
    (folder.branch === undefined ? undefined : tipsOf(folder).get(folder.branch)) ?? folder.detached;
  const tips = () => new Set([...branches.values(), ...refs.values(), ...[...folders.values()].map(head)]);
  const reachable = () => commits.reach(tips());
  return {
    commits,
    branches,
    usersChanges: new Set(),
    refs,
    previous,
    folders,
    trash,
    head,
    isReachable(commit, from = tips()) {
      if (from.has(commit)) return true;
      for (const tip of from) if (commits.isAncestor(commit, tip)) return true;
      return false;
    },
    tips,
    setHead(folder, commit) {
      if (folder.branch === undefined) folder.detached = commit;
      else tipsOf(folder).set(folder.branch, commit);
    },
    isDirty: (folder) => changedPaths(commits.get(head(folder)).tree, folder.files).length > 0,
    uncommitted(folder) {
      const { tree } = commits.get(head(folder));
      return changedPaths(tree, folder.files).flatMap((path) => folder.files.get(path) ?? []);
    },
    moveRef(ref, to) {
      const before = refs.get(ref);
      if (before !== undefined && before !== to) previous.set(ref, before);
      if (before !== undefined && before !== to && !commits.isAncestor(before, to))
        refs.set(`refs/signalbox/kept/${before}`, before);
      refs.set(ref, to);
    },
    hasContent(content) {
      if (trash.has(content)) return true;
      for (const { files } of folders.values()) for (const each of files.values()) if (each === content) return true;
      for (const id of reachable()) for (const each of commits.get(id).tree.values()) if (each === content) return true;
      return false;
    },
  };
}
