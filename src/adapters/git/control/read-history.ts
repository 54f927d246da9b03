import { checkCommit, checkRef } from "../check-names.ts";
import type { GitPlace, RunGit } from "../git-runner.ts";
import { remembering } from "../remember.ts";
import { lookForRef } from "../workspace/read-git-folder.ts";
import type { ControlGit } from "./control-git.ts";

/** Nobody else writes here, so the files say it; git is asked where they do not. */
export async function commitAt({ run, folder }: ControlGit, ref: string): Promise<string | undefined> {
  const known = await lookForRef(folder, checkRef(ref));
  if (known.kind === "absent") return undefined;
  return known.kind === "there" ? known.id : refAt(run, { folder, gitDir: folder, configuration: "ours" }, ref);
}

/** Where a ref is in any repository. `rev-parse` would also take another one whose name only ends like this. */
export async function refAt(run: RunGit, place: GitPlace, ref: string): Promise<string | undefined> {
  checkRef(ref);
  const { stdout } = await run(place, ["for-each-ref", "--format=%(objectname) %(refname)", "--end-of-options", ref]);
  for (const line of stdout.toString("utf8").split("\n")) {
    const [id, name] = splitOnce(line);
    if (name === ref) return id;
  }
  return undefined;
}

const ancestry = remembering<boolean>();

export async function isAncestor(control: ControlGit, ancestor: string, commit: string): Promise<boolean> {
  const ids = [checkCommit(ancestor), checkCommit(commit)];
  if (ancestor === commit) return true;
  return ancestry(`${control.folder} ${ids.join(" ")}`, async () => {
    const args = ["merge-base", "--is-ancestor", "--end-of-options", ...ids];
    return (await control.git(args, { accepts: [0, 1] })).code === 0;
  });
}

export async function mergeBase(control: ControlGit, a: string, b: string): Promise<string | undefined> {
  const ids = [checkCommit(a), checkCommit(b)];
  const { code, stdout } = await control.git(["merge-base", "--end-of-options", ...ids], { accepts: [0, 1] });
  return code === 0 ? stdout.toString("utf8").trim() : undefined;
}

const counts = remembering<number>();

export async function countCommits(control: ControlGit, from: string, to: string): Promise<number> {
  const ids = [`^${checkCommit(from)}`, checkCommit(to)];
  if (from === to) return 0;
  return counts(`${control.folder} ${ids.join(" ")}`, async () => {
    const { stdout } = await control.git(["rev-list", "--count", "--end-of-options", ...ids]);
    const count = Number(stdout.toString("utf8"));
    // What has nothing of its own is contained.
    await ancestry(`${control.folder} ${to} ${from}`, async () => count === 0);
    return count;
  });
}

/** Followed along first parents, a branch takes others in with its merges: the oldest that contains the commit is the one. */
export async function beforeMergeOf(control: ControlGit, commit: string, tip: string): Promise<string | undefined> {
  const list = async (...how: readonly string[]) => {
    const ids = [`^${checkCommit(commit)}`, checkCommit(tip)];
    const { stdout } = await control.git(["rev-list", ...how, "--end-of-options", ...ids]);
    return stdout.toString("latin1").trimEnd().split("\n");
  };
  const containing = new Set(await list("--ancestry-path"));
  const chain = (await list("--first-parent", "--parents")).map((line) => line.split(" "));
  const [, first, ...others] = chain.findLast(([id = ""]) => containing.has(id)) ?? [];
  return others.length > 0 && first !== commit ? first : undefined;
}

const trees = remembering<string>();

/** Refused with `git.bad-ref` where it is no commit, or is not there. */
export async function treeOf(control: ControlGit, commit: string): Promise<string> {
  const revision = `${checkCommit(commit)}^{tree}`;
  return trees(`${control.folder} ${commit}`, async () => {
    const { stdout } = await control.git(["rev-parse", "--verify", "--end-of-options", revision]);
    return stdout.toString("utf8").trim();
  });
}

/** Remembers of a commit that was just made what need not be asked. */
export async function noteCommit(
  { folder }: ControlGit,
  commit: string,
  tree: string,
  ancestors: readonly string[],
): Promise<void> {
  await trees(`${folder} ${commit}`, async () => tree);
  for (const ancestor of ancestors) await noteAncestor({ folder }, ancestor, commit);
}

export async function noteAncestor(
  { folder }: Pick<ControlGit, "folder">,
  ancestor: string,
  commit: string,
): Promise<void> {
  await ancestry(`${folder} ${ancestor} ${commit}`, async () => true);
  await counts(`${folder} ^${commit} ${ancestor}`, async () => 0);
}

function splitOnce(line: string): readonly [string, string] {
  const at = line.indexOf(" ");
  return [line.slice(0, at), line.slice(at + 1)];
}
