import { execFileSync } from "node:child_process";

/** Whether there is a commit in a repository that agents can start from. */
export function hasCommits(root: string): boolean {
  return succeeds("-C", root, "rev-parse", "--quiet", "--verify", "HEAD^{commit}");
}

/** Makes the first commit, also where there is no file yet. */
export const firstCommit = 'git commit --allow-empty -m "The beginning"';

export const unknownAuthor = "git does not know who you are, and without that nobody can commit here.";

/** What a person has to tell git before anything is committed; nothing where it knows. What git would make up is nobody. */
export function identityCommands(folder: string): readonly string[] {
  const isKnown = ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"].every((name) =>
    succeeds("-C", folder, "-c", "user.useConfigOnly=true", "var", name),
  );
  return isKnown ? [] : ['git config --global user.name "Your Name"', "git config --global user.email you@example.org"];
}

function succeeds(...args: readonly string[]): boolean {
  try {
    execFileSync("git", args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
