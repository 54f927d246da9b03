import { Fault } from "../../src/fault.ts";
import type { WorkspaceKind } from "../../src/ports/workspaces.ts";
import { makeMemoryFolder } from "./memory-files.ts";
import { changedPaths, type Folder, type Repositories } from "./memory-repositories.ts";
import type { World } from "./world.ts";

export interface MemoryWorkspacesPorts {
  readonly repositories: Repositories;
  /** Called after every operation that deleted a branch or files. */
  changed(what: string): void;
  /** Called with the contents that were deleted from a folder. */
  discarded(folder: Folder, contents: readonly string[], head: string): void;
}

/** Workspaces in memory. They refuse and accept what the real ones do. */
export function createMemoryWorkspaces(ports: MemoryWorkspacesPorts, name: WorkspaceKind["kind"]): WorkspaceKind {
  const { repositories, changed, discarded } = ports;
  const { commits, branches, folders, refs } = repositories;
  const mustHave = (path: string): Folder => {
    const folder = folders.get(path);
    if (folder === undefined) throw new Fault("workspace.missing", `${path} is no workspace.`);
    return folder;
  };
  const elsewhere = (branch: string, path: string) =>
    [...folders.values()].find((each) => each.kind === "worktree" && each.branch === branch && each.path !== path);

  return {
    kind: name,
    async prepare({ folder: path, branch, base, lastAt, existing, isLeft = false, salvaged }) {
      const there = folders.get(path);
      const isShared = name === "worktree";
      // What another task has left in a clone does not count.
      const own = isLeft ? undefined : there?.own;
      const tips = isShared ? branches : (own ?? new Map<string, string>());
      if (there?.branch === branch && !isLeft && !repositories.isDirty(there))
        return { commit: repositories.head(there), how: "ready" };
      if (isShared && elsewhere(branch, path) !== undefined)
        throw new Fault("workspace.branch-elsewhere", `Another folder has the branch "${branch}".`);
      if (there !== undefined && repositories.isDirty(there) && !salvaged)
        throw new Fault("workspace.dirty", `There is something in ${path} that is neither committed nor salvaged.`);
      if (there !== undefined && !isSaved(repositories, there))
        throw new Fault("workspace.unsaved", `No ref outside of ${path} has its commits.`);
      if (tips.has(branch) && !existing) throw new Fault("workspace.branch-taken", `"${branch}" is there already.`);
      const left = there && { contents: repositories.uncommitted(there), head: repositories.head(there) };
      const commit = (isShared ? (tips.get(branch) ?? lastAt) : (lastAt ?? tips.get(branch))) ?? base;
      tips.set(branch, commit);
      const files = new Map(commits.get(commit).tree);
      const folder: Folder = {
        path,
        kind: name,
        branch,
        detached: commit,
        files,
        taskFiles: new Map(),
        own: new Map(),
      };
      if (!isShared) folder.own.set(branch, commit);
      folders.set(path, folder);
      makeMemoryFolder(path);
      if (there !== undefined && left !== undefined) discarded(there, left.contents, left.head);
      changed("prepare");
      return { commit, how: there === undefined ? "new" : "recycled" };
    },
    async park({ folder: path, at, isFree }) {
      const there = folders.get(path);
      const commit = branches.get(at);
      if (there === undefined || commit === undefined || !isSaved(repositories, there) || !(await isFree()))
        return false;
      const left = { contents: repositories.uncommitted(there), head: repositories.head(there) };
      const files = new Map(commits.get(commit).tree);
      const empty = { taskFiles: new Map(), own: new Map() };
      folders.set(path, { ...there, ...empty, branch: undefined, detached: commit, parkedAt: commit, files });
      discarded(there, left.contents, left.head);
      changed("park");
      return true;
    },
    async inspect(path) {
      const folder = folders.get(path);
      if (folder === undefined) return { kind: "missing" };
      const dirty = repositories.isDirty(folder);
      const parked = folder.branch === undefined && folder.parkedAt === folder.detached;
      const rest = { parked, untracked: 0, operation: undefined, locked: undefined };
      return { kind: "there", branch: folder.branch, head: repositories.head(folder), dirty, ...rest };
    },
    flawOf: async (path) => (folders.has(path) ? undefined : "It is gone."),
    mendHead: async () => undefined,
    reconnect: async () => undefined,
    currentBranch: async (path) => folders.get(path)?.branch,
    async branchAt(path, branch) {
      const folder = mustHave(path);
      return (folder.kind === "clone" ? folder.own : branches).get(branch);
    },
    async renameBranch(path, to) {
      const folder = mustHave(path);
      if (folder.branch === undefined) throw new Fault("workspace.detached", "It is on no branch.");
      if (folder.branch === to) return;
      const tips = folder.kind === "clone" ? folder.own : branches;
      if (tips.has(to)) throw new Fault("workspace.branch-taken", `"${to}" is there already.`);
      const at = repositories.head(folder);
      tips.delete(folder.branch);
      folder.branch = to;
      tips.set(to, at);
      changed("rename");
    },
    async forwardBranch(path, commit) {
      const folder = mustHave(path);
      if (repositories.isDirty(folder)) throw new Fault("workspace.dirty", `${path} has changes.`);
      repositories.setHead(folder, commit);
      folder.files = new Map(commits.get(commit).tree);
      changed("forward");
    },
    learnBranch: async () => undefined,
    switchBranch: unavailable,
    async commitAll({ folder: path, message, date }) {
      const folder = mustHave(path);
      if (!repositories.isDirty(folder)) return undefined;
      const commit = commits.add([repositories.head(folder)], new Map(folder.files), `${message} ${date}`);
      repositories.setHead(folder, commit);
      return commit;
    },
    async uncommittedPaths(path) {
      const folder = mustHave(path);
      return changedPaths(commits.get(repositories.head(folder)).tree, folder.files);
    },
    diffUncommitted: async () => ({ bytes: new Uint8Array(), isCut: false, lines: [] }),
    async deleteBranch(branch, commit) {
      const at = branches.get(branch);
      if (at === undefined) return { kind: "gone" };
      if (at !== commit) throw new Fault("git.ref-moved", `"${branch}" is elsewhere.`);
      for (const folder of folders.values()) {
        if (folder.kind !== "worktree" || folder.branch !== branch) continue;
        folder.branch = undefined;
        folder.detached = commit;
      }
      branches.delete(branch);
      changed("delete branch");
      return { kind: "deleted" };
    },
    async remove(path, salvage) {
      const folder = folders.get(path);
      if (folder === undefined) return;
      if (salvage === undefined && repositories.isDirty(folder))
        throw new Fault("workspace.dirty", `There is something in ${path} that is not committed.`);
      folders.delete(path);
      for (const content of repositories.uncommitted(folder)) repositories.trash.add(content);
      discarded(folder, [], repositories.head(folder));
      changed("remove");
    },
    deleteTrash: async () => ({ deleted: 0, left: 0, freed: 0, size: 0, held: [], stuck: [] }),
    copyFiles: async () => ({ copied: [], kept: [], refused: [] }),
    taskFileName: async () => "TASK.md",
    async placeTaskFile(path, file, text, before) {
      const { taskFiles } = mustHave(path);
      if (before !== undefined && taskFiles.get(file) !== before) return false;
      taskFiles.set(file, text);
      return true;
    },
    async placeDocument(path, file, text) {
      mustHave(path).taskFiles.set(`documents/${file}`, text);
    },
    readTaskFile: async (path, file) => folders.get(path)?.taskFiles.get(file),
    isTaskFileTracked: async () => false,
    removeExclude: async () => undefined,
    deletePipes: async () => 0,
    diskUse: async () => ({ bytes: 0, files: 0, isCut: false }),
  };

  function isSaved({ head }: Repositories, folder: Folder): boolean {
    if (folder.kind === "worktree" && folder.branch !== undefined) return true;
    return commits.reach([...refs.values(), ...branches.values()]).has(head(folder));
  }
}

async function unavailable(): Promise<never> {
  throw new Fault("git.failed", "Nobody asks for this in a simulated life.");
}

/** What agents and people do with git in a workspace. Each returns the new commit; undefined if there was nothing to do. */

export function commitAll({ repositories, made, next }: World, path: string, what: string): string | undefined {
  const folder = repositories.folders.get(path);
  if (folder === undefined || !repositories.isDirty(folder)) return undefined;
  const id = repositories.commits.add([repositories.head(folder)], new Map(folder.files), `${what} ${next()}`);
  repositories.setHead(folder, id);
  made.commits.add(id);
  return id;
}

/** Merges a commit, and resolves conflicts. */
export function bringIn(
  { repositories, made, next }: World,
  path: string,
  commit: string | undefined,
): string | undefined {
  const folder = repositories.folders.get(path);
  if (folder === undefined || commit === undefined || repositories.isDirty(folder)) return undefined;
  const head = repositories.head(folder);
  const merged = repositories.commits.merge(head, commit);
  if (merged.kind === "up-to-date") return undefined;
  const id = repositories.commits.add([head, commit], merged.tree, `merge ${next()}`);
  repositories.setHead(folder, id);
  folder.files = new Map(merged.tree);
  made.commits.add(id);
  return id;
}
