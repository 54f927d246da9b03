import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The git repository that a folder is in. In a worktree or a submodule `.git` is a file. */
export function findRepository(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return folder;
  const parent = dirname(folder);
  return parent === folder ? undefined : findRepository(parent);
}
