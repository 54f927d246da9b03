import { statSync } from "node:fs";
import type { ControlGit } from "../control/control-git.ts";

/** More than the logs of all workspaces name. */
const most = 100_000;

interface Known {
  /** Which folder it was: one that was made anew in its place knows nothing. */
  readonly of: string;
  readonly commits: Set<string>;
}

const known = new WeakMap<ControlGit, Known>();

/**
 * The commits that a ref of a control repository was found to reach. No ref there leaves a commit that nothing else reaches,
 * except where a person drops what was salvaged: then all of this is forgotten.
 */
export function savedCommits(control: ControlGit): Set<string> {
  const { dev, ino, birthtimeMs } = statSync(control.folder);
  const of = `${dev} ${ino} ${birthtimeMs}`;
  const before = known.get(control);
  if (before?.of === of && before.commits.size < most) return before.commits;
  const commits = new Set<string>();
  known.set(control, { of, commits });
  return commits;
}

export function forgetSaved(control: ControlGit): void {
  known.delete(control);
}
