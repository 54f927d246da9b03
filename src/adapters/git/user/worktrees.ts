import { existsSync } from "node:fs";
import { join } from "node:path";
import { splitNul } from "../file-name.ts";
import type { GitPlace, RunGit } from "../git-runner.ts";
import { operations } from "../operations.ts";

export interface Worktree {
  readonly folder: string;
  /** The whole name of the branch's ref; undefined where HEAD is a commit, or where there are no files at all. */
  readonly branch: string | undefined;
  readonly isMissing: boolean;
}

export async function listWorktrees(run: RunGit, place: GitPlace): Promise<readonly Worktree[]> {
  const { stdout } = await run(place, ["worktree", "list", "--porcelain", "-z"]);
  const worktrees: Worktree[] = [];
  let lines: string[] = [];
  for (const part of splitNul(stdout)) {
    if (part.length > 0) lines.push(part.toString("utf8"));
    else {
      worktrees.push(readWorktree(lines));
      lines = [];
    }
  }
  return worktrees;
}

function readWorktree(lines: readonly string[]): Worktree {
  const after = (word: string) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1);
  const folder = after("worktree") ?? "";
  return { folder, branch: after("branch"), isMissing: !existsSync(folder) };
}

/** Something that was begun in a worktree and not ended, in git's word; undefined where there is nothing. */
export function operationIn(gitFolder: string): string | undefined {
  return operations.find(([file]) => existsSync(join(gitFolder, file)))?.[1];
}
