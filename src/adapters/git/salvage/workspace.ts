import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join, resolve } from "node:path";
import { Fault } from "../../../fault.ts";
import { targetAt } from "../entry-at.ts";

/** Where git keeps what belongs to a workspace. Found by reading, so that no git has to run there. */
export interface Workspace {
  readonly folder: string;
  readonly gitFolder: string;
  /** What all worktrees of a repository share; the same as `gitFolder` in a clone. */
  readonly commonFolder: string;
  readonly isLinked: boolean;
}

export function findWorkspace(folder: string): Workspace {
  const dotGit = join(folder, ".git");
  const isFolder = targetAt(dotGit)?.isDirectory() ?? false;
  const [, named] = isFolder ? [] : (/^gitdir: (.+)$/m.exec(readSome(dotGit)) ?? []);
  const gitFolder = isFolder ? dotGit : named && resolve(folder, named);
  if (gitFolder === undefined || !targetAt(gitFolder)?.isDirectory()) {
    throw new Fault("git.not-a-repository", `${folder} has no git repository any more.`, {
      hint: "Its files are still there: look at them, and save by hand what is of use.",
    });
  }
  const common = readSome(join(gitFolder, "commondir")).trim();
  const commonFolder = common === "" ? gitFolder : resolve(gitFolder, common);
  return { folder, gitFolder, commonFolder, isLinked: common !== "" };
}

// The ends of such files are what counts; nobody has so many entries.
const mostRead = 1024 * 1024;

/** The end of a file, or nothing. Only of real files: reading from something else may never end. */
export function readSome(path: string): string {
  const found = targetAt(path);
  if (!found?.isFile()) return "";
  if (found.size <= mostRead) return readFileSync(path, "utf8");
  const descriptor = openSync(path, "r");
  try {
    const buffer = Buffer.alloc(mostRead);
    return buffer.toString("utf8", 0, readSync(descriptor, buffer, 0, mostRead, found.size - mostRead));
  } finally {
    closeSync(descriptor);
  }
}

/** Lets git, in the control repository, see the objects of a workspace as well. It obeys nothing that is written there. */
export function withObjectsOf({ commonFolder }: Workspace): Readonly<Record<string, string>> {
  const path = join(commonFolder, "objects").replaceAll(/["\\]/g, "\\$&");
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${path}"` };
}

/** Indexes over objects that somebody else may have written; the objects themselves cannot lie. */
export const distrust = ["core.commitGraph=false", "core.multiPackIndex=false"];
