import { dirname, join } from "node:path";
import { namesIn } from "./entry-at.ts";
import { readHead, readSmall } from "./read-git-folder.ts";
import type { UserRepository } from "./user-repository.ts";

/** The folder that has a branch checked out, or is in the middle of something with it; undefined where none has. */
export async function branchUse(
  { commonFolder, mainFolder }: UserRepository,
  branch: string,
  except: string | undefined,
): Promise<string | undefined> {
  if (mainFolder !== undefined && (await uses(commonFolder, commonFolder, branch))) return mainFolder;
  const entries = join(commonFolder, "worktrees");
  for (const name of await namesIn(entries)) {
    const gitFolder = join(entries, name);
    if (gitFolder === except || !(await uses(gitFolder, commonFolder, branch))) continue;
    // Also where it is gone: it may be on a disk that comes back.
    return dirname((await readSmall(join(gitFolder, "gitdir")))?.trimEnd() ?? gitFolder);
  }
  return undefined;
}

async function uses(gitFolder: string, commonFolder: string, branch: string): Promise<boolean> {
  const head = await readHead({ gitFolder, commonFolder });
  if (head?.branch !== undefined) return head.branch === branch;
  const begun = ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"];
  for (const file of begun) {
    const text = (await readSmall(join(gitFolder, file)))?.trim();
    if (text === `refs/heads/${branch}` || (text === branch && file === "BISECT_START")) return true;
  }
  return false;
}
