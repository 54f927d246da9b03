import { statSync } from "node:fs";
import { createMemo } from "../../../keyed.ts";
import { lookForRef } from "../git-folder.ts";
import { checkCommit, checkRef } from "../names.ts";
import type { GitPlace, RunGit } from "../runner.ts";
import type { ControlGit } from "./control-git.ts";

/** More than the reflogs of all workspaces name. Above this size the cache is dropped. */
const maxKnown = 100_000;

/** A cache of facts about commits in a control repository, which never loses an object. */
interface KnownCommits {
  /**
   * Commits that a ref reaches. They stay reachable, because moved refs pin what they leave. Only when a person drops a
   * salvage, this set is cleared.
   */
  readonly reached: Set<string>;
  /** Commits whose objects all exist, whether or not a ref reaches them. */
  readonly whole: Set<string>;
}

const known = new WeakMap<ControlGit, KnownCommits & { readonly of: string }>();

export function knownCommits(control: ControlGit): KnownCommits {
  // A repository that was created again in the same place starts with an empty cache.
  const { dev, ino, birthtimeMs } = statSync(control.folder);
  const of = `${dev} ${ino} ${birthtimeMs}`;
  const before = known.get(control);
  if (before?.of === of && before.reached.size + before.whole.size < maxKnown) return before;
  const now = { of, reached: new Set<string>(), whole: new Set<string>() };
  known.set(control, now);
  return now;
}

export function noteReached(control: ControlGit, commits: Iterable<string>): void {
  const { reached, whole } = knownCommits(control);
  for (const commit of commits) {
    reached.add(commit);
    whole.add(commit);
  }
}

/** The commits since the common ancestor of several commits, each with its parents, and that ancestor. */
interface History {
  readonly parents: Map<string, readonly string[]>;
  readonly shared: string;
}

// More than a merge queue's history of a year.
const maxBytes = 16 * 1024 * 1024;

/** Undefined if there is no single merge base, or too much history since. */
export async function readHistory(control: ControlGit, commits: readonly string[]): Promise<History | undefined> {
  const found = await control.git(["merge-base", "--octopus", "--all", "--end-of-options", ...commits], {
    accepts: [0, 1],
    isLong: true,
  });
  const [shared, ...others] = linesOf(found.stdout);
  if (shared === undefined || others.length > 0) return undefined;
  const since = await control.git(["rev-list", "--parents", "--end-of-options", ...commits, `^${shared}`], {
    isLong: true,
    most: maxBytes,
    cuts: true,
  });
  if (since.isCut) return undefined;
  return { parents: parentsIn(since.stdout), shared };
}

/** Computes ancestry in memory for a commit that others are merged into, one after the other. */
export interface Trunk {
  contains(commit: string): boolean;
  /** Whether a commit contains the trunk. */
  isIn(commit: string): boolean;
  /** The merge base; undefined if there are several. */
  baseWith(commit: string): string | undefined;
  /** Moves the trunk to a new commit with these parents. */
  move(commit: string, parents: readonly string[]): void;
  /** Moves the trunk to a commit that contains it. */
  forward(commit: string): void;
}

export function createTrunk({ parents, shared }: History, start: string): Trunk {
  const reached = new Set<string>();
  let top = start;
  reach(reached, [start]);
  return {
    // A commit that is not listed is an ancestor of the shared one.
    contains: (commit) => !parents.has(commit) || reached.has(commit),
    isIn(commit) {
      const above = new Set<string>();
      reach(above, [commit]);
      return !parents.has(top) || above.has(top);
    },
    baseWith(commit) {
      const common = firstReached(commit);
      const below = new Set<string>();
      reach(
        below,
        common.flatMap((each) => parents.get(each) ?? []),
      );
      const best = [...common, shared].filter((each) => !below.has(each));
      return best.length === 1 ? best[0] : undefined;
    },
    move(commit, above) {
      parents.set(commit, above);
      top = commit;
      reach(reached, [commit]);
    },
    forward(commit) {
      top = commit;
      reach(reached, [commit]);
    },
  };

  /** Adds commits and their ancestors, down to and including the first that are not listed. */
  function reach(into: Set<string>, commits: readonly string[]): void {
    const open = [...commits];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (into.has(next)) continue;
      into.add(next);
      open.push(...(parents.get(next) ?? []));
    }
  }

  /** On every path down from a commit, the first commit that the trunk contains. */
  function firstReached(commit: string): readonly string[] {
    const seen = new Set<string>();
    const found: string[] = [];
    const open = [commit];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next) || !parents.has(next)) continue;
      seen.add(next);
      if (reached.has(next)) found.push(next);
      else open.push(...(parents.get(next) ?? []));
    }
    return found;
  }
}

function linesOf(output: Buffer): readonly string[] {
  return output
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "");
}

/** Reads the ref's file, which only the daemon writes; asks git if the files are not conclusive. */
export async function commitAt({ run, folder }: ControlGit, ref: string): Promise<string | undefined> {
  const known = await lookForRef(folder, checkRef(ref));
  if (known.kind === "absent") return undefined;
  return known.kind === "there" ? known.id : refAt(run, { folder, gitDir: folder, configuration: "ours" }, ref);
}

/** The commit of a ref in any repository. Not `rev-parse`, which also accepts a ref whose name only ends like this. */
export async function refAt(run: RunGit, place: GitPlace, ref: string): Promise<string | undefined> {
  checkRef(ref);
  const { stdout } = await run(place, ["for-each-ref", "--format=%(objectname) %(refname)", "--end-of-options", ref]);
  for (const line of stdout.toString("utf8").split("\n")) {
    const [id, name] = splitOnce(line);
    if (name === ref) return id;
  }
  return undefined;
}

const ancestry = createMemo<boolean>();

export async function isAncestor(control: ControlGit, ancestor: string, commit: string): Promise<boolean> {
  const ids = [checkCommit(ancestor), checkCommit(commit)];
  if (ancestor === commit) return true;
  return ancestry.get(`${control.folder} ${ids.join(" ")}`, async () => {
    const args = ["merge-base", "--is-ancestor", "--end-of-options", ...ids];
    return (await control.git(args, { accepts: [0, 1] })).code === 0;
  });
}

const bases = createMemo<string | undefined>();

export async function mergeBase(control: ControlGit, a: string, b: string): Promise<string | undefined> {
  const ids = [checkCommit(a), checkCommit(b)];
  return bases.get(`${control.folder} ${ids.join(" ")}`, async () => {
    const { code, stdout } = await control.git(["merge-base", "--end-of-options", ...ids], { accepts: [0, 1] });
    return code === 0 ? stdout.toString("utf8").trim() : undefined;
  });
}

const counts = createMemo<number>();

export async function countCommits(control: ControlGit, from: string, to: string): Promise<number> {
  const ids = [`^${checkCommit(from)}`, checkCommit(to)];
  if (from === to) return 0;
  return counts.get(`${control.folder} ${ids.join(" ")}`, async () => {
    const { stdout } = await control.git(["rev-list", "--count", "--end-of-options", ...ids]);
    const count = Number(stdout.toString("utf8"));
    // A commit without commits of its own is an ancestor.
    await ancestry.get(`${control.folder} ${to} ${from}`, async () => count === 0);
    return count;
  });
}

/** The merge that brought a commit in: the oldest on the first-parent chain that contains it, with its first parent. */
export async function mergeOf(
  control: ControlGit,
  commit: string,
  tip: string,
): Promise<{ readonly before: string; readonly after: string } | undefined> {
  const list = async (...how: readonly string[]) => {
    const ids = [`^${checkCommit(commit)}`, checkCommit(tip)];
    const { stdout } = await control.git(["rev-list", ...how, "--end-of-options", ...ids]);
    return stdout.toString("latin1").trimEnd().split("\n");
  };
  const containing = new Set(await list("--ancestry-path"));
  const chain = (await list("--first-parent", "--parents")).map((line) => line.split(" "));
  const [after = "", before = "", ...others] = chain.findLast(([id = ""]) => containing.has(id)) ?? [];
  return others.length > 0 && before !== commit ? { before, after } : undefined;
}

const lists = createMemo<ReadonlyMap<string, readonly string[]>>({ max: 1_000 });

export async function listCommits(
  control: ControlGit,
  commit: string,
  without: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const ids = [checkCommit(commit), ...[...new Set(without)].sort().map((each) => `^${checkCommit(each)}`)];
  return lists.get(`${control.folder} ${ids.join(" ")}`, async () => {
    const input = Buffer.from(ids.map((id) => `${id}\n`).join(""));
    const { stdout } = await control.git(["rev-list", "--parents", "--stdin"], {
      input,
      isLong: true,
      most: 4 * maxBytes,
    });
    return parentsIn(stdout);
  });
}

function parentsIn(output: Buffer): Map<string, readonly string[]> {
  return new Map(
    linesOf(output).map((line) => {
      const [commit = "", ...above] = line.split(" ");
      return [commit, above];
    }),
  );
}

const trees = createMemo<string>();

/** Throws `git.bad-ref` if it is not a commit, or does not exist. */
export async function treeOf(control: ControlGit, commit: string): Promise<string> {
  const revision = `${checkCommit(commit)}^{tree}`;
  return trees.get(`${control.folder} ${commit}`, async () => {
    const { stdout } = await control.git(["rev-parse", "--verify", "--end-of-options", revision]);
    return stdout.toString("utf8").trim();
  });
}

/** Puts the tree and the ancestors of a new commit into the caches. */
export async function noteCommit(
  { folder }: ControlGit,
  commit: string,
  tree: string,
  ancestors: readonly string[],
): Promise<void> {
  await trees.get(`${folder} ${commit}`, async () => tree);
  for (const ancestor of ancestors) await noteAncestor({ folder }, ancestor, commit);
}

export async function noteAncestor(
  { folder }: Pick<ControlGit, "folder">,
  ancestor: string,
  commit: string,
): Promise<void> {
  await ancestry.get(`${folder} ${ancestor} ${commit}`, async () => true);
  await counts.get(`${folder} ^${commit} ${ancestor}`, async () => 0);
}

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf(" ");
  return [line.slice(0, at), line.slice(at + 1)];
}
