import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ControlGit } from "../control/control-git.ts";
import type { GitPlace } from "../git-runner.ts";
import type { IndexEntry } from "./draft-index.ts";
import { distrust } from "./workspace.ts";

/**
 * Whether files and index are as a commit has them, which most agents leave them. One question to git, where saving takes
 * half a dozen; where the answer is no, or something is there that it does not tell, everything is looked at.
 */
export async function isAsCommitted(
  control: ControlGit,
  draft: GitPlace & { readonly gitDir: string },
  settings: readonly string[],
  entries: readonly IndexEntry[],
  commit: string,
  /** Where else its objects are. */
  env: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const isPlain = entries.every(({ stage, mode, tag }) => stage === "0" && mode !== "160000" && tag === "H");
  if (!isPlain) return false;
  await writeFile(join(draft.gitDir, "HEAD"), `${commit}\n`);
  const { code, stdout } = await control.run(
    draft,
    ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=none"],
    { accepts: [0, 128], env, settings: [...settings, ...distrust], isLong: true },
  );
  await writeFile(join(draft.gitDir, "HEAD"), unborn);
  return code === 0 && stdout.length === 0;
}

/** A draft stands for no commit. */
export const unborn = "ref: refs/heads/none\n";
