import { mkdir } from "node:fs/promises";
import { branchRef, noCommit } from "../../check-names.ts";
import { checkThere } from "../check-there.ts";
import { readRef } from "../read-git-folder.ts";
import type { Workshop } from "../workshop.ts";

/** Makes a branch of the user's repository. Nothing where it is there already. */
export async function makeBranch(shop: Workshop, branch: string, commit: string): Promise<void> {
  const { git, user, options } = shop;
  const { commonFolder } = await user();
  if ((await readRef(commonFolder, branchRef(branch))) !== undefined) return;
  await mkdir(options.state, { recursive: true });
  const place = { folder: options.state, gitDir: commonFolder, configuration: "user" } as const;
  const created = ["update-ref", "--no-deref", "-m", "workspace prepared", branchRef(branch), commit, noCommit(commit)];
  try {
    await git(place, created, { writes: true });
  } catch (error) {
    // Somebody who was killed right after this made it already.
    if ((await readRef(commonFolder, branchRef(branch))) === commit) return;
    await checkThere(shop, commit, { objects: place, refs: place });
    throw error;
  }
}
