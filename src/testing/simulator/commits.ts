import { hash } from "node:crypto";

/** What a commit has: the content of each file by its path. */
export type Tree = ReadonlyMap<string, string>;

export interface Commit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly tree: Tree;
  /** Longer than that of every commit it contains. */
  readonly depth: number;
}

export type Merging =
  | { readonly kind: "up-to-date" }
  | { readonly kind: "merged"; readonly tree: Tree }
  | { readonly kind: "conflict"; readonly files: readonly string[]; readonly tree: Tree };

/** Commits of all repositories of a world, as git keeps them: by their content, and for ever. */
export interface Commits {
  add(parents: readonly string[], tree: Tree, about: string): string;
  get(id: string): Commit;
  isAncestor(ancestor: string, commit: string): boolean;
  mergeBase(a: string, b: string): string | undefined;
  /** Everything that these commits contain, themselves included. */
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
  /** What one commit contains never changes. */
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
