import { constants } from "node:fs";
import { copyFile, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { joinNul } from "../file-name.ts";
import { type Files, lostIsFine } from "./list-changes.ts";
import { replaceLocked } from "./replace-locked.ts";
import type { Workshop } from "./workshop.ts";

/**
 * Writes the files of a commit. What is in their way is overwritten: move it aside before. With `only` all other files
 * are as the index has them, which is of that commit.
 */
export async function checkOut(
  { git }: Workshop,
  files: Files,
  {
    index,
    commit,
    only,
  }: { readonly index: string; readonly commit: string; readonly only?: readonly Buffer[] | undefined },
): Promise<void> {
  if (only?.length === 0) return;
  const isPart = only !== undefined && only.length <= mostApart;
  const args = isPart
    ? ["checkout-index", "--quiet", "--force", "--index", "-z", "--stdin"]
    : ["read-tree", "--reset", "-u", commit];
  await git(files.place, args, {
    ...(isPart ? { input: joinNul(only) } : {}),
    env: { ...files.env, GIT_INDEX_FILE: index },
    settings: [...files.settings, lostIsFine],
    writes: true,
    isLong: true,
    // What a partial clone lacks comes from the remote that the user has chosen.
    ...(files.place.configuration === "user" ? { protocols: ["https", "ssh", "file"] as const } : {}),
  });
}

// Git looks at every single one by itself.
const mostApart = 5_000;

/** Gives the workspace a copy of our index. */
export async function installIndex(index: string, gitFolder: string, workers: readonly string[]): Promise<void> {
  const { mtimeMs } = await stat(index);
  await replaceLocked(join(gitFolder, "index"), workers, async (lock) => {
    await copyFile(index, lock, constants.COPYFILE_EXCL);
    // As old as the original, so that git looks again at files that changed at that moment.
    const seconds = Math.floor(mtimeMs) / 1000;
    await utimes(lock, seconds, seconds);
  });
}
