import { readFile, realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";

/**
 * The repository that a worktree belongs to: the folder above its `.git`, or the repository itself where it is bare. Empty
 * where the folder is no worktree. The program keeps some of what it knows about a worktree under this name.
 */
export async function repositoryOf(folder: string): Promise<string> {
  const read = (file: string) => readFile(file, "utf8").catch(() => "");
  const [, own] = /^gitdir: (.+)$/m.exec(await read(resolve(folder, ".git"))) ?? [];
  if (own === undefined) return "";
  const gitFolder = resolve(folder, own);
  const shared = (await read(resolve(gitFolder, "commondir"))).trim();
  if (shared === "") return "";
  const repository = await realpath(resolve(gitFolder, shared)).catch(() => "");
  return basename(repository) === ".git" ? dirname(repository) : repository;
}
