import { realpath } from "node:fs/promises";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { LeftBehind } from "../../../ports/git.ts";
import { branchRef, isObjectId } from "../check-names.ts";
import { readSome } from "../salvage/workspace.ts";
import { namesIn } from "../workspace/entry-at.ts";
import { readHead } from "../workspace/read-git-folder.ts";
import { findFolders } from "../workspace/user-repository.ts";
import { readEntry } from "../workspace/worktree/find-entry.ts";

/**
 * A branch that is moved from another worktree, or by its ref alone, leaves no entry in the reflog of the checkout that has it.
 * This reads reflogs only. Where git keeps none, the move cannot be detected.
 */
export async function leftBehind(
  repository: string,
  branch: string,
  workspaces: string,
): Promise<LeftBehind | undefined> {
  const found = await findFolders(await realpath(repository).catch(() => repository));
  if (found === undefined) return undefined;
  const { commonFolder } = found;
  const logged = lastLogged(join(commonFolder, "logs", branchRef(branch)));
  for (const { folder, gitFolder } of await checkouts(commonFolder)) {
    if (folder.startsWith(resolve(workspaces) + sep)) continue;
    const head = await readHead({ gitFolder, commonFolder });
    const before = head?.branch === branch ? lastLogged(join(gitFolder, "logs", "HEAD")) : undefined;
    const after = head?.commit;
    if (before !== undefined && after !== undefined && logged === after && before !== after)
      return { folder, before, after };
  }
  return undefined;
}

interface Checkout {
  readonly folder: string;
  readonly gitFolder: string;
}

async function checkouts(commonFolder: string): Promise<readonly Checkout[]> {
  const main = basename(commonFolder) === ".git" ? [{ folder: dirname(commonFolder), gitFolder: commonFolder }] : [];
  const names = await namesIn(join(commonFolder, "worktrees"));
  const entries = await Promise.all(names.map((name) => readEntry(commonFolder, name)));
  return [...main, ...entries.flatMap((entry) => (entry ? [{ folder: entry.folder, gitFolder: entry.path }] : []))];
}

/** Where the last line of a log says that its ref went. */
function lastLogged(file: string): string | undefined {
  const [, id = ""] = readSome(file).trimEnd().split("\n").at(-1)?.split(" ", 2) ?? [];
  return isObjectId(id) ? id : undefined;
}
