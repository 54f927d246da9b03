import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { branchRef } from "../check-names.ts";
import { replaceLocked } from "./replace-locked.ts";

/** Makes a branch what is checked out, as `git symbolic-ref` does; a process for this would cost more than all the rest. */
export async function writeHead(gitFolder: string, branch: string, workers: readonly string[]): Promise<void> {
  await replaceLocked(join(gitFolder, "HEAD"), workers, (lock) =>
    writeFile(lock, `ref: ${branchRef(branch)}\n`, { flag: "wx" }),
  );
}
