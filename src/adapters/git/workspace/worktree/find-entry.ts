import { basename, dirname, join } from "node:path";
import { namesIn } from "../entry-at.ts";
import { readSmall } from "../read-git-folder.ts";

/** What git knows about one worktree: a folder in `worktrees/` of the repository. */
export interface WorktreeEntry {
  readonly name: string;
  readonly path: string;
  /** Where it says that the worktree is. */
  readonly folder: string;
  /** Why it is locked; undefined where it is not. While git makes a worktree it says `initializing`. */
  readonly lock: string | undefined;
}

/** The entry of a folder. `known` is where it was found before. */
export async function findEntry(
  commonFolder: string,
  folder: string,
  known: string | undefined,
): Promise<WorktreeEntry | undefined> {
  const entries = join(commonFolder, "worktrees");
  const names = await namesIn(entries);
  const first = known !== undefined && names.includes(known) ? [known] : [];
  for (const name of [...first, ...names]) {
    const entry = await readEntry(commonFolder, name);
    if (entry?.folder === folder) return entry;
  }
  return undefined;
}

/** Undefined where it says nothing about a folder. */
export async function readEntry(commonFolder: string, name: string): Promise<WorktreeEntry | undefined> {
  const path = join(commonFolder, "worktrees", name);
  const dotGit = (await readSmall(join(path, "gitdir")))?.replace(/\n$/, "");
  if (dotGit === undefined || basename(dotGit) !== ".git") return undefined;
  return { name, path, folder: dirname(dotGit), lock: (await readSmall(join(path, "locked")))?.trimEnd() };
}

/** Entries that a killed `git worktree add` for this folder left behind before it had written what they are for. */
export async function namelessEntries(commonFolder: string, folder: string): Promise<readonly string[]> {
  const entries = join(commonFolder, "worktrees");
  const nameless: string[] = [];
  for (const name of await namesIn(entries)) {
    const [, end] = name.startsWith(basename(folder)) ? [name, name.slice(basename(folder).length)] : [name, "other"];
    if (!/^\d*$/.test(end)) continue;
    const path = join(entries, name);
    const inside = await namesIn(path);
    if (inside.every((each) => each === "locked") && (await readSmall(join(path, "locked"))) === "initializing\n")
      nameless.push(path);
  }
  return nameless;
}
