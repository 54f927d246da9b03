import { statSync } from "node:fs";
import type { ControlGit } from "./control-git.ts";

/** More than the logs of all workspaces name. */
const most = 100_000;

/** What is once known of commits in a control repository, from which no object is ever thrown away. */
export interface KnownCommits {
  /**
   * Those that a ref reaches. No ref leaves a commit that nothing else reaches, except where a person drops what was
   * salvaged: then this is forgotten.
   */
  readonly reached: Set<string>;
  /** Those of which everything is there, whether or not a ref reaches them. */
  readonly whole: Set<string>;
}

const known = new WeakMap<ControlGit, KnownCommits & { readonly of: string }>();

export function knownCommits(control: ControlGit): KnownCommits {
  // One that was made anew in its place knows nothing.
  const { dev, ino, birthtimeMs } = statSync(control.folder);
  const of = `${dev} ${ino} ${birthtimeMs}`;
  const before = known.get(control);
  if (before?.of === of && before.reached.size + before.whole.size < most) return before;
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
