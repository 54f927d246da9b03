import { hash } from "node:crypto";
import { Fault } from "../../src/fault.ts";
import {
  type Conflict,
  type ControlRepository,
  lacksCommit,
  type MergeAnswer,
  type MergeOrder,
  taskRef,
} from "../../src/ports/control-repository.ts";
import type { FileName } from "../../src/ports/git.ts";
import type { ProjectFiles } from "../../src/project-tests/finders.ts";

/** A tree: the content of each file by its path. */
export type Tree = ReadonlyMap<string, string>;

export interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly tree: Tree;
  /** Greater than that of every ancestor. */
  readonly depth: number;
}

export type Merging =
  | { readonly kind: "up-to-date" }
  | { readonly kind: "merged"; readonly tree: Tree }
  | { readonly kind: "conflict"; readonly files: readonly string[]; readonly tree: Tree };

/** The commits of all repositories of a world, content-addressed and never deleted, as in git. */
export interface Commits {
  add(parents: readonly string[], tree: Tree, about: string): string;
  get(id: string): Commit;
  isAncestor(ancestor: string, commit: string): boolean;
  mergeBase(a: string, b: string): string | undefined;
  /** The ancestors of these commits, themselves included. */
  reach(from: Iterable<string>): ReadonlySet<string>;
  /** The same of one commit. */
  containedIn(id: string): ReadonlySet<string>;
  changed(from: string, to: string): readonly string[];
  merge(onto: string, branch: string): Merging;
}

export function createCommits(): Commits {
  const all = new Map<string, Commit>();
  const get = (id: string): Commit => {
    const found = all.get(id);
    if (found === undefined) throw new Error(`There is no commit ${id}.`);
    return found;
  };
  const reach = (from: Iterable<string>) => {
    const seen = new Set<string>();
    const open = [...from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      open.push(...get(id).parents);
    }
    return seen;
  };
  const contained = new Map<string, ReadonlySet<string>>();
  /** The ancestors of a commit never change. */
  const containedIn = (id: string): ReadonlySet<string> => {
    const found = contained.get(id) ?? reach([id]);
    contained.set(id, found);
    return found;
  };
  const isAncestor = (ancestor: string, commit: string) =>
    ancestor === commit || (get(ancestor).depth < get(commit).depth && containedIn(commit).has(ancestor));
  const mergeBase = (a: string, b: string) => {
    const ours = containedIn(a);
    let base: Commit | undefined;
    for (const id of containedIn(b)) {
      const commit = get(id);
      if (ours.has(id) && commit.depth > (base?.depth ?? 0)) base = commit;
    }
    return base?.id;
  };
  return {
    get,
    reach,
    containedIn,
    isAncestor,
    mergeBase,
    add(parents, tree, about) {
      const text = JSON.stringify([parents, [...tree], about]);
      const id = hash("sha1", text);
      if (!all.has(id)) {
        const depth = 1 + Math.max(0, ...parents.map((parent) => get(parent).depth));
        all.set(id, { id, parents, tree, depth });
      }
      return id;
    },
    changed: (from, to) => changedPaths(get(from).tree, get(to).tree),
    merge(onto, branch) {
      if (isAncestor(branch, onto)) return { kind: "up-to-date" };
      const base = mergeBase(onto, branch);
      const before: Tree = base === undefined ? new Map() : get(base).tree;
      const [ours, theirs] = [get(onto).tree, get(branch).tree];
      const tree = new Map(ours);
      const files: string[] = [];
      for (const path of changedPaths(before, theirs)) {
        const isOurs = ours.get(path) !== before.get(path) && ours.get(path) !== theirs.get(path);
        if (isOurs) files.push(path);
        else take(tree, path, theirs.get(path));
      }
      return files.length > 0 ? { kind: "conflict", files, tree } : { kind: "merged", tree };
    },
  };
}

export function changedPaths(from: Tree, to: Tree): readonly string[] {
  const paths = new Set([...from.keys(), ...to.keys()]);
  return [...paths].filter((path) => from.get(path) !== to.get(path)).sort();
}

function take(tree: Map<string, string>, path: string, content: string | undefined): void {
  if (content === undefined) tree.delete(path);
  else tree.set(path, content);
}

/** A control repository in memory. `changed` is called after every operation that moved or deleted a ref. */
export function createMemoryControl(
  repositories: Repositories,
  folder: string,
  changed: (what: string) => void,
): ControlRepository {
  const { commits, branches, remote, refs, folders, usersChanges } = repositories;
  const conflict = (files: readonly string[]): Conflict => ({
    kind: "conflict",
    files: files.map((path) => ({ path: nameOf(path), kind: "contents" })),
    text: `Conflicts in ${files.join(", ")}.`,
    tree: "",
  });
  const merge = ({ onto, branch, strategy, message, date }: Omit<MergeOrder, "author">): MergeAnswer => {
    if (commits.isAncestor(branch, onto)) return { kind: "up-to-date" };
    if (strategy === "ff")
      return commits.isAncestor(onto, branch) ? { kind: "fast-forward", commit: branch } : { kind: "diverged" };
    const result = commits.merge(onto, branch);
    if (result.kind === "up-to-date") return result;
    if (result.kind === "conflict") return conflict(result.files);
    const commit = commits.add([onto, branch], result.tree, `${message} ${date}`);
    return { kind: "merged", commit, tree: hash("sha1", JSON.stringify([...result.tree].sort())) };
  };
  const waits = (commit: string, at: string | undefined) => {
    const files = at === undefined ? [] : commits.changed(at, commit).filter((path) => usersChanges.has(path));
    if (files.length === 0) return undefined;
    const text = `You have changes of your own in ${files.join(", ")}. Commit them.`;
    return { kind: "waits", reason: "files", files: files.map(nameOf), text } as const;
  };

  return {
    folder,
    async collect({ folder: path, branch, task, contains }) {
      const found = folders.get(path);
      const tips = found?.kind === "clone" ? found.own : branches;
      const commit = tips.get(branch);
      if (found === undefined || commit === undefined)
        throw new Fault("git.bad-ref", `There is no branch "${branch}" in ${path}.`);
      if (contains !== undefined && !commits.isAncestor(contains, commit))
        throw new Fault(lacksCommit, `"${branch}" does not contain ${contains}.`);
      const previous = refs.get(taskRef(task));
      repositories.moveRef(taskRef(task), commit);
      if (previous !== commit) changed("collect");
      return { commit, previous };
    },
    async syncFrom({ name }) {
      const seen = name === "user" ? branches : remote;
      for (const [branch, commit] of seen) repositories.moveRef(`refs/remotes/${name}/${branch}`, commit);
      for (const [ref, commit] of [...refs]) {
        const prefix = `refs/remotes/${name}/`;
        if (!ref.startsWith(prefix) || seen.has(ref.slice(prefix.length))) continue;
        refs.delete(ref);
        refs.set(`refs/signalbox/kept/${commit}`, commit);
        changed("sync");
      }
      // No agent of the simulator moves a branch of the user's.
      return { branches: Object.fromEntries(seen), moves: [] };
    },
    unpushedModules: async () => [],
    async salvage({ folder: path, task, at }) {
      const nothing = { saved: undefined, ignored: [], repositories: [], refused: [] };
      const found = folders.get(path);
      if (found === undefined) return nothing;
      const head = repositories.head(found);
      const isDirty = repositories.isDirty(found);
      if (!isDirty && commits.reach(refs.values()).has(head)) return nothing;
      const commit = isDirty ? commits.add([head], new Map(found.files), "salvage") : head;
      const known = [...refs].find(([ref, each]) => each === commit && ref.startsWith("refs/signalbox/salvage/"));
      const ref = known?.[0] ?? `refs/signalbox/salvage/${task}/${at}`;
      repositories.moveRef(ref, commit);
      changed("salvage");
      return { ...nothing, saved: { ref, commit } };
    },
    listSalvaged: async () => [],
    restoreFiles: unavailable,
    dropSalvaged: unavailable,
    listTaskRefs: async () =>
      [...refs].flatMap(([ref, commit]) => {
        const [, task = ""] = /^refs\/signalbox\/tasks\/([^/]+)$/.exec(ref) ?? [];
        return task === "" ? [] : [{ ref, task, commit }];
      }),
    async dropContainedRefs(given, into) {
      const contained = given.filter(({ commit }) => into.some((tip) => commits.isAncestor(commit, tip)));
      for (const { ref } of contained) refs.delete(ref);
      if (contained.length > 0) changed("forget");
      return contained.length;
    },
    commitAt: async (ref) => refs.get(ref),
    isAncestor: async (ancestor, commit) => commits.isAncestor(ancestor, commit),
    mergeBase: async (a, b) => commits.mergeBase(a, b),
    async countCommits(from, to) {
      const known = commits.containedIn(from);
      let count = 0;
      for (const id of commits.containedIn(to)) if (!known.has(id)) count++;
      return count;
    },
    changedFiles: async (from, to) =>
      commits.changed(from, to).map((path) => ({ path: nameOf(path), change: "modified", from: undefined })),
    diff: async () => ({ bytes: new Uint8Array(), isCut: false }),
    changedLines: async () => [],
    diffFile: async () => ({ bytes: new Uint8Array(), lines: 0, hasMore: false, hidden: [] }),
    mergeOf: async () => undefined,
    async listCommits(commit, without) {
      const known = new Set(without.flatMap((each) => [...commits.containedIn(each)]));
      const own = [...commits.containedIn(commit)].filter((id) => !known.has(id));
      return new Map(own.map((id) => [id, commits.get(id).parents]));
    },
    async fileAt(commit, path) {
      const content = commit === "" ? undefined : commits.get(commit).tree.get(String(path));
      return content === undefined ? undefined : Buffer.from(content);
    },
    async listFiles(commit, folder) {
      const start = folder === "" ? "" : `${folder}/`;
      const paths = [...commits.get(commit).tree.keys()].filter((path) => path.startsWith(start));
      const modes = new Map(
        paths.map((path) => {
          const [name = "", ...rest] = path.slice(start.length).split("/");
          return [name, rest.length === 0 ? "100644" : "040000"] as const;
        }),
      );
      return [...modes].map(([name, mode]) => ({ name, mode, id: commit }));
    },
    async replaceFiles({ commit, from, files }) {
      const tree = new Map(commits.get(commit).tree);
      const base = commits.get(from).tree;
      for (const { path, text } of files) take(tree, path, text ?? base.get(path));
      return commits.add([commit], tree, "the base's protected files");
    },
    async merge({ author: _, ...order }) {
      const answer = merge(order);
      if (answer.kind === "diverged") throw new Fault("git.diverged", "That takes a merge.");
      return answer;
    },
    async mergeAll({ onto, entries }) {
      let top = onto;
      return entries.map((entry) => {
        const answer = merge({ ...entry, onto: top });
        if (answer.kind === "merged" || answer.kind === "fast-forward") top = answer.commit;
        return answer;
      });
    },
    async predictConflicts(commit, others) {
      return others.map((other) => {
        const result = commits.merge(commit, other);
        return result.kind === "conflict" ? conflict(result.files) : undefined;
      });
    },
    revertMerge: unavailable,
    async moveRef(ref, to, from) {
      if (refs.get(ref) !== from) throw new Fault("git.ref-moved", `${ref} is elsewhere.`);
      repositories.moveRef(ref, to);
      changed("move");
    },
    async publish({ branch, commit, expected }) {
      const at = branches.get(branch);
      if (at !== undefined && commits.isAncestor(commit, at)) return { kind: "published", at };
      if (at !== expected) return { kind: "moved", to: at };
      const inTheWay = waits(commit, at);
      if (inTheWay !== undefined) return inTheWay;
      if (at !== undefined && !commits.isAncestor(at, commit)) return { kind: "moved", to: at };
      branches.set(branch, commit);
      changed("publish");
      return { kind: "published", at: commit };
    },
    undoUpdate: async () => "",
    async restoreBranch({ branch, commit }) {
      if (!branches.has(branch)) branches.set(branch, commit);
      changed("restore");
    },
    giveCommit: async () => {},
    inTheWay: async ({ branch, commit }) => waits(commit, branches.get(branch)),
    async pushBranch({ branch, commit, expected }) {
      const at = remote.get(branch);
      if (at === commit) return;
      if (at !== expected) throw new Fault("git.ref-moved", `"${branch}" of the remote is elsewhere.`);
      remote.set(branch, commit);
    },
    async deleteRemoteBranch({ branch, expected }) {
      if (remote.has(branch) && remote.get(branch) !== expected)
        throw new Fault("git.ref-moved", `"${branch}" of the remote is elsewhere.`);
      remote.delete(branch);
    },
    tidy: async () => false,
  };
}

/** The files of a working copy, as a program there would read them. */
export function filesIn({ folders }: Repositories, path: string): ProjectFiles {
  const files = folders.get(path)?.files ?? new Map<string, string>();
  return {
    has: (name) => files.has(name),
    canRun: () => false,
    list: (folder) => (folder === "" ? [...files.keys()].filter((name) => !name.includes("/")).sort() : []),
    read: (name) => files.get(name),
  };
}

function nameOf(text: string): FileName {
  return { text, bytes: Buffer.from(text) };
}

async function unavailable(): Promise<never> {
  throw new Fault("git.failed", "Nobody asks for this in a simulated life.");
}

/** A working copy. */
export interface Folder {
  readonly path: string;
  readonly kind: "worktree" | "clone";
  /** Undefined if HEAD is detached; then `detached` is the commit. */
  branch: string | undefined;
  detached: string;
  files: Map<string, string>;
  /** Task files, which git ignores, by their names. */
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
  /** The branches of its remote; empty if it has none. */
  readonly remote: Map<string, string>;
  /** Paths with changes of the user's own in the user's checkout. */
  readonly usersChanges: Set<string>;
  /** The refs of the control repository. */
  readonly refs: Map<string, string>;
  /** The earlier commits of moved refs. */
  readonly previous: ReadonlyMap<string, string>;
  readonly folders: Map<string, Folder>;
  /** Contents of files that were moved to the trash. */
  readonly trash: Set<string>;
  head(folder: Folder): string;
  setHead(folder: Folder, commit: string): void;
  isDirty(folder: Folder): boolean;
  /** The uncommitted contents of a folder. */
  uncommitted(folder: Folder): readonly string[];
  /** Moves a ref of the control repository; its earlier commit stays reachable. */
  moveRef(ref: string, to: string): void;
  /** The commits of all refs, branches and working copies. */
  tips(): ReadonlySet<string>;
  /** Whether a commit is reachable from a ref, branch or working copy. */
  isReachable(commit: string, tips?: ReadonlySet<string>): boolean;
  /** Whether a content is in a reachable commit, in a folder, or in the trash. */
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
    remote: new Map(),
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
