import { readdirSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { gitFoldersOf } from "../../git-folder.ts";
import { readableText } from "../../readable-text.ts";

/**
 * The folders that no sandbox shows, not even below a folder that it mounts, such as /opt or ~/go: the user's repositories with
 * their linked worktrees, and the homes of other people. Read at each start of a run: a few small files.
 */
export function concealedFolders(repositories: readonly string[], user: string): readonly string[] {
  return [...new Set([...repositories.flatMap(withWorktrees), ...otherHomes(user)])];
}

function withWorktrees(repository: string): readonly string[] {
  const found = gitFoldersOf(repository);
  if (found === undefined) return [repository];
  const { gitFolder, commonFolder } = found;
  const records = join(commonFolder, "worktrees");
  const worktrees = namesIn(records).map((name) => dirname(readableText(join(records, name, "gitdir")).trim()));
  // The main worktree of a repository of which the user has registered a linked one.
  const main = commonFolder.endsWith(`${sep}.git`) ? [dirname(commonFolder)] : [];
  return [repository, gitFolder, commonFolder, ...main, ...worktrees].filter((path) => path.startsWith(sep));
}

/** Below this number are the accounts of the system, whose homes are folders of programs. */
const firstPerson = 1000;
const nobody = 65_534;

function otherHomes(user: string): readonly string[] {
  return readableText("/etc/passwd")
    .split("\n")
    .flatMap((line) => {
      const [, , id = "", , , home = ""] = line.split(":");
      const isPerson = Number(id) >= firstPerson && Number(id) !== nobody;
      // The root, a folder in it, and what contains the user's own home are too wide.
      const isOwn = `${user}${sep}`.startsWith(`${home}${sep}`);
      return isPerson && home.split(sep).length > 2 && !isOwn ? [home] : [];
    });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
