import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { ControlGit } from "../control/control-git.ts";
import { joinNul } from "../file-name.ts";
import type { GitPlace } from "../git-runner.ts";
import type { IndexEntry } from "./draft-index.ts";

/**
 * What is staged, as one tree; undefined where some of it is lost. The sides of a file that is in conflict are files with
 * names of their own: most are in commits too, but what was staged when a stash was popped is nowhere else.
 */
export async function stagedTree(
  control: ControlGit,
  draft: GitPlace & { readonly gitDir: string },
  entries: readonly IndexEntry[],
): Promise<string | undefined> {
  const sides = entries.filter(({ stage }) => stage !== "0");
  const env = sides.length === 0 ? {} : { GIT_INDEX_FILE: await indexWithSides(control, draft, entries, sides) };
  const { code, stdout } = await control.run(draft, ["write-tree"], { env, accepts: [0, 128], writes: true });
  return code === 0 ? stdout.toString("latin1").trim() : undefined;
}

async function indexWithSides(
  control: ControlGit,
  draft: GitPlace & { readonly gitDir: string },
  entries: readonly IndexEntry[],
  sides: readonly IndexEntry[],
): Promise<string> {
  const index = join(draft.gitDir, "staged-index");
  await copyFile(join(draft.gitDir, "index"), index);
  const update = (args: readonly string[], input: Buffer) =>
    control.run(draft, ["update-index", ...args], { input, env: { GIT_INDEX_FILE: index }, writes: true });
  await update(["--force-remove", "-z", "--stdin"], joinNul(sides.map(({ path }) => path)));
  const taken = new Set(entries.map(({ path }) => path.toString("latin1")));
  const lines = sides.map(({ mode, id, stage, path }) =>
    Buffer.concat([Buffer.from(`${mode} ${id} 0\t`), nameOfSide(path, stage, taken)]),
  );
  await update(["-z", "--index-info"], joinNul(lines));
  return index;
}

const sideNames: Readonly<Record<string, string>> = { "1": "base", "2": "ours", "3": "theirs" };

function nameOfSide(path: Buffer, stage: string, taken: Set<string>): Buffer {
  let name = `${path.toString("latin1")}.${sideNames[stage] ?? stage}`;
  while (taken.has(name)) name += "~";
  taken.add(name);
  return Buffer.from(name, "latin1");
}

/** Whether a tree has files that others have not, whatever their names. */
export async function hasMore(control: ControlGit, tree: string, others: readonly string[]): Promise<boolean> {
  const blobs = ["--objects", "--no-object-names", "--filter=object:type=blob", "--filter-provided-objects"];
  const { stdout } = await control.git(["rev-list", ...blobs, tree, "--not", ...others], { isLong: true });
  return stdout.length > 0;
}
