import { Fault } from "../../../fault.ts";
import type { GitPlace } from "../git-runner.ts";
import type { Workshop } from "./workshop.ts";

/** Refused with `git.no-commits` or `git.bad-ref` where there is no such commit. `refs` is where branches are. */
export async function checkThere(
  { git, options }: Workshop,
  commit: string,
  { objects, refs }: { readonly objects: GitPlace; readonly refs: GitPlace },
): Promise<void> {
  const accepts = [0, 1, 128];
  const { code } = await git(objects, ["cat-file", "-e", "--end-of-options", `${commit}^{commit}`], { accepts });
  if (code === 0) return;
  const { stdout } = await git(refs, ["rev-list", "--max-count=1", "--all"]);
  throw stdout.length === 0 ? noCommits(options.repository) : noCommit(commit);
}

function noCommits(repository: string): Fault {
  return new Fault("git.no-commits", `${repository} has no commit yet.`, {
    hint: "Make a first one: git commit --allow-empty -m start",
  });
}

function noCommit(commit: string): Fault {
  return new Fault("git.bad-ref", `There is no commit ${commit} to begin with.`, {
    hint: "Sync the repository, and look whether the commit is there.",
  });
}
