import { join, resolve } from "node:path";
import { isObjectId } from "../check-names.ts";
import { refAt } from "../control/read-history.ts";
import { entryAt } from "../entry-at.ts";
import type { GitPlace, RunGit } from "../git-runner.ts";
import { readSmall } from "../workspace/read-git-folder.ts";

// Where a file says it plainly, it is read: starting git takes longer, and others have to wait for it.

/** Where git keeps what all worktrees of a repository share. */
export async function commonFolderOf(run: RunGit, place: GitPlace): Promise<string> {
  return usualFolder(place) ?? resolve(place.folder, await ask(run, place, ["rev-parse", "--git-common-dir"]));
}

/** Where git keeps what belongs to a worktree alone. */
export async function gitFolderOf(run: RunGit, place: GitPlace): Promise<string> {
  return usualFolder(place) ?? ask(run, place, ["rev-parse", "--absolute-git-dir"]);
}

/** Where a branch of the user's repository is; undefined where there is none of that name. */
export async function branchAt(run: RunGit, place: GitPlace, ref: string): Promise<string | undefined> {
  const usual = usualFolder(place);
  const loose = usual && (await readSmall(join(usual, ref)))?.trim();
  return loose !== undefined && isObjectId(loose) ? loose : refAt(run, place, ref);
}

/** The whole name of the branch's ref that is checked out; undefined where HEAD is a commit. */
export async function checkedOutRef(run: RunGit, place: GitPlace): Promise<string | undefined> {
  const usual = usualFolder(place);
  const text = usual && (await readSmall(join(usual, "HEAD")));
  const [, ref] = /^ref: (refs\/heads\/\S+)\n$/.exec(text ?? "") ?? [];
  if (ref !== undefined && ref !== "refs/heads/.invalid") return ref;
  const { stdout } = await run(place, ["symbolic-ref", "--quiet", "HEAD"], { accepts: [0, 1] });
  return stdout.toString("utf8").trim() || undefined;
}

/** The folder `.git` itself, where it is a repository and shares nothing with another one. */
function usualFolder({ folder, gitDir }: GitPlace): string | undefined {
  const usual = join(folder, ".git");
  const isWhole =
    gitDir === undefined &&
    entryAt(join(usual, "HEAD"))?.isFile() &&
    entryAt(join(usual, "objects"))?.isDirectory() &&
    entryAt(join(usual, "refs"))?.isDirectory();
  return isWhole && entryAt(usual)?.isDirectory() && entryAt(join(usual, "commondir")) === undefined
    ? usual
    : undefined;
}

async function ask(run: RunGit, place: GitPlace, args: readonly string[]): Promise<string> {
  return (await run(place, args)).stdout.toString("utf8").replace(/\n$/, "");
}
