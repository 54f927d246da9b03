import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { branchRef } from "../check-names.ts";
import { replaceLocked } from "./replace-locked.ts";

/** Makes something else what is checked out, as `git symbolic-ref` does; a process for this would cost more than all the rest. */
export async function writeHead(gitFolder: string, text: string, workers: readonly string[]): Promise<void> {
  await replaceLocked(join(gitFolder, "HEAD"), workers, (lock) => writeFile(lock, text, { flag: "wx" }));
}

/** What a HEAD says that is on a branch. */
export function onBranch(branch: string): string {
  return `ref: ${branchRef(branch)}\n`;
}

/** What a HEAD says that is on a branch, or on none. */
export function headText({ branch, commit }: { readonly branch: string | undefined; readonly commit: string }): string {
  return branch === undefined ? `${commit}\n` : onBranch(branch);
}
