import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { ControlGit } from "../control/control-git.ts";
import { joinNul } from "../file-name.ts";
import type { GitPlace } from "../git-runner.ts";
import type { IndexEntry } from "./draft-index.ts";

/**
 * What is staged, as one tree; undefined where some of it is lost. In the middle of a merge it is without the files that
 * are in conflict, whose sides are in the commits that are merged.
 */
export async function stagedTree(
  control: ControlGit,
  draft: GitPlace & { readonly gitDir: string },
  entries: readonly IndexEntry[],
): Promise<string | undefined> {
  const sides = entries.filter(({ stage }) => stage !== "0").map(({ path }) => path);
  const env = sides.length === 0 ? {} : { GIT_INDEX_FILE: await indexWithout(control, draft, sides) };
  const { code, stdout } = await control.run(draft, ["write-tree"], { env, accepts: [0, 128], writes: true });
  return code === 0 ? stdout.toString("latin1").trim() : undefined;
}

async function indexWithout(
  control: ControlGit,
  draft: GitPlace & { readonly gitDir: string },
  paths: readonly Buffer[],
): Promise<string> {
  const index = join(draft.gitDir, "staged-index");
  await copyFile(join(draft.gitDir, "index"), index);
  await control.run(draft, ["update-index", "--force-remove", "-z", "--stdin"], {
    input: joinNul(paths),
    env: { GIT_INDEX_FILE: index },
    writes: true,
  });
  return index;
}

/** Whether a tree has files that others have not, whatever their names. */
export async function hasMore(control: ControlGit, tree: string, others: readonly string[]): Promise<boolean> {
  const blobs = ["--objects", "--no-object-names", "--filter=object:type=blob", "--filter-provided-objects"];
  const { stdout } = await control.git(["rev-list", ...blobs, tree, "--not", ...others], { isLong: true });
  return stdout.length > 0;
}
