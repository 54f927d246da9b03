import type { ControlGit } from "./control-git.ts";

/** Commits that some of several have and others have not, each with its parents, and the one that all have. */
export interface History {
  readonly parents: Map<string, readonly string[]>;
  readonly shared: string;
}

// More than a line of tasks has in a year.
const mostBytes = 16 * 1024 * 1024;

/** Undefined where there is more than one best commit that all have in common, or none, or too much since. */
export async function readHistory(control: ControlGit, commits: readonly string[]): Promise<History | undefined> {
  const found = await control.git(["merge-base", "--octopus", "--all", "--end-of-options", ...commits], {
    accepts: [0, 1],
    isLong: true,
  });
  const [shared, ...others] = linesOf(found.stdout);
  if (shared === undefined || others.length > 0) return undefined;
  const since = await control.git(["rev-list", "--parents", "--end-of-options", ...commits, `^${shared}`], {
    isLong: true,
    most: mostBytes,
    cuts: true,
  });
  if (since.isCut) return undefined;
  const parents = new Map<string, readonly string[]>();
  for (const line of linesOf(since.stdout)) {
    const [commit = "", ...above] = line.split(" ");
    parents.set(commit, above);
  }
  return { parents, shared };
}

/** A commit that others are merged into, one after the other: what it contains then. */
export interface Trunk {
  contains(commit: string): boolean;
  /** Whether a commit contains it. */
  isIn(commit: string): boolean;
  /** What both have in common; undefined where several commits are equally good at that. */
  baseWith(commit: string): string | undefined;
  /** It is at a new commit now, which has these parents. */
  move(commit: string, parents: readonly string[]): void;
  /** It is at a commit that contained it. */
  forward(commit: string): void;
}

export function createTrunk({ parents, shared }: History, start: string): Trunk {
  const reached = new Set<string>();
  let top = start;
  reach(reached, [start]);
  return {
    // What is not listed is contained in what all share.
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

  /** Adds commits and everything that they contain, down to what is not listed, which comes in too. */
  function reach(into: Set<string>, commits: readonly string[]): void {
    const open = [...commits];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (into.has(next)) continue;
      into.add(next);
      open.push(...(parents.get(next) ?? []));
    }
  }

  /** On every way down from a commit, the first that the trunk contains. */
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
