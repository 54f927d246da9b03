import { execFileSync } from "node:child_process";

/** Whether there is a commit in a repository that agents can start from. */
export function hasCommits(root: string): boolean {
  try {
    execFileSync("git", ["-C", root, "rev-parse", "--quiet", "--verify", "HEAD^{commit}"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
