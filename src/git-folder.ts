import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

/** The git folders of a working tree. */
export interface GitFolders {
  /** The working tree's own: HEAD, index and logs. */
  readonly gitFolder: string;
  /** Shared with other worktrees: objects and branches. */
  readonly commonFolder: string;
  /** Whether it is a linked worktree of another repository. */
  readonly isLinked: boolean;
}

/**
 * Reads `.git` as git does: in a worktree and in a submodule it is a file that names the git folder. Undefined if the
 * folder is not the top of a working tree. Does not check whether the git folders exist.
 */
export function gitFoldersOf(folder: string): GitFolders | undefined {
  const dotGit = join(folder, ".git");
  const [, named] = /^gitdir: ([^\r\n]+)/m.exec(readSmallFile(dotGit)) ?? [];
  const gitFolder = isDirectory(dotGit) ? dotGit : named && resolve(folder, named);
  if (gitFolder === undefined) return undefined;
  const common = readSmallFile(join(gitFolder, "commondir")).trim();
  return { gitFolder, commonFolder: common === "" ? gitFolder : resolve(gitFolder, common), isLinked: common !== "" };
}

/** The name of the checked-out branch; undefined if HEAD is a commit or cannot be read. */
export function checkedOutBranch(gitFolder: string): string | undefined {
  return /^ref: refs\/heads\/([^\r\n]+)/m.exec(readSmallFile(join(gitFolder, "HEAD")))?.[1];
}

const maxBytes = 65_536;

/** Empty if the file is missing or not a plain file: reading a pipe may never end. */
function readSmallFile(path: string): string {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= maxBytes ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
