import { lstatSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";

/**
 * When something in a workspace was last changed, as far as a few looks tell: its top, its task file, and what git writes
 * whenever it is used. Milliseconds since 1970; 0 where there is nothing.
 */
export async function lastTouched(folder: string, taskFile: string): Promise<number> {
  const git = await gitFolder(folder);
  const places = [folder, ...(taskFile === "" ? [] : [join(folder, taskFile)])];
  const ofGit = ["index", "HEAD", join("logs", "HEAD")].map((name) => join(git, name));
  const times = await Promise.all([...places, ...ofGit].map(changedAt));
  return Math.max(0, ...times);
}

const mostBytes = 65_536;

function isSmallFile(path: string): boolean {
  try {
    const found = lstatSync(path);
    return found.isFile() && found.size <= mostBytes;
  } catch {
    return false;
  }
}

/** A worktree's `.git` is a file that says where git keeps what belongs to it. */
async function gitFolder(folder: string): Promise<string> {
  const place = join(folder, ".git");
  // To read from what is no file, such as a pipe, may never end.
  const text = isSmallFile(place) ? await readFile(place, "utf8").catch(() => "") : "";
  const [, elsewhere] = /^gitdir: (.+)$/m.exec(text) ?? [];
  return elsewhere === undefined ? place : resolve(folder, elsewhere);
}

function changedAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
