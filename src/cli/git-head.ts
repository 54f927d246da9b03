import { readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { findRepository } from "../home/find-repository.ts";

/** The branch that is checked out in a folder's repository; undefined outside of one and where HEAD is a commit. */
export function branchAt(folder: string): string | undefined {
  const repository = findRepository(folder);
  const git = repository && gitFolder(repository);
  if (git === undefined) return undefined;
  return /^ref: refs\/heads\/(.+)$/m.exec(read(join(git, "HEAD")))?.[1];
}

/** The repository that a worktree belongs to; undefined where the folder is in none. */
export function mainRepository(folder: string): string | undefined {
  const repository = findRepository(folder);
  const git = repository && gitFolder(repository);
  if (git === undefined) return undefined;
  const said = read(join(git, "commondir")).trim();
  if (said === "") return repository;
  const common = resolve(git, said);
  // Of a bare repository, which has no folder around it, that is the repository itself.
  return basename(common) === ".git" ? dirname(common) : common;
}

/** In a worktree and in a submodule `.git` is a file that says where the rest is. */
function gitFolder(repository: string): string | undefined {
  const path = join(repository, ".git");
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  const [, target] = /^gitdir: (.+)$/m.exec(read(path)) ?? [];
  return target && resolve(repository, target.trimEnd());
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
