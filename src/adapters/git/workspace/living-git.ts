import { readdir, readFile, readlink } from "node:fs/promises";
import { sep } from "node:path";

/** The git processes that work in one of the folders; undefined where the system does not tell. */
export async function livingGit(folders: readonly string[]): Promise<readonly number[] | undefined> {
  const names = await readdir("/proc").catch(() => undefined);
  const pids = names?.filter((name) => /^\d+$/.test(name)).map(Number);
  if (pids === undefined || pids.length === 0) return undefined;
  const living: number[] = [];
  for (const pid of pids) if (await isGitIn(pid, folders)) living.push(pid);
  return living;
}

async function isGitIn(pid: number, folders: readonly string[]): Promise<boolean> {
  try {
    if (!(await readFile(`/proc/${pid}/comm`, "utf8")).startsWith("git")) return false;
    const cwd = await readlink(`/proc/${pid}/cwd`);
    return folders.some((folder) => cwd === folder || cwd.startsWith(folder + sep));
  } catch {
    // It ended in the meantime, or belongs to somebody else.
    return false;
  }
}
