import { spawnSync } from "node:child_process";
import type { ProjectView } from "../api/routes.ts";
import { Fault } from "../fault.ts";
import { resolveConfig } from "../home/config.ts";
import { worktreeLimits } from "../home/work-checks.ts";
import { shellWord } from "../shell-quote.ts";
import { type Context, configLayers } from "./context.ts";
import { firstCommit, hasCommits, identityCommands } from "./find.ts";

/** Prints the branch that work is merged into, and warns if it is missing or looks as if it was checked out by chance. */
export function tellBranch(context: Context, project: ProjectView): void {
  const { say, talkPaint } = context;
  const { name, path, defaultBranch } = project;
  const warning = talkPaint.yellow("warning:");
  const change = (branch: string) => `signalbox project update ${name} --default-branch ${shellWord(branch)}`;
  const here = gitOutput(path, "for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n").filter(Boolean);
  if (!here.includes(defaultBranch) && hasCommits(path)) {
    const checkedOut = gitOutput(path, "symbolic-ref", "--quiet", "--short", "HEAD");
    const mend =
      checkedOut === ""
        ? `No branch is checked out. To make it of the present commit: git -C ${shellWord(path)} switch -c ${shellWord(defaultBranch)}`
        : `To use the one that is checked out: ${change(checkedOut)}`;
    say(`${warning} Work would start from ${defaultBranch}, but there is no such branch. ${mend}`);
    return;
  }
  say(`Work starts from ${defaultBranch}, and is merged into it.${pushNote(context, project)}`);
  const head = gitOutput(path, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD");
  const remotes = head.replace(/^origin\//, "");
  const likely = [remotes, ...commonNames.filter((branch) => here.includes(branch))].filter(Boolean);
  const [main] = likely;
  if (main === undefined || [...likely, ...commonNames].includes(defaultBranch)) return;
  const why = main === remotes ? "the remote's default" : "also there";
  const make = here.includes(main)
    ? ""
    : `git -C ${shellWord(path)} branch ${shellWord(main)} origin/${shellWord(main)} && `;
  say(
    `${warning} That branch was checked out, but ${main} is ${why}. To merge into ${main} instead: ${make}${change(main)}`,
  );
}

/** A sentence about the push that every merge makes; empty if there is none. */
export function pushNote(context: Context, project: ProjectView): string {
  if (gitOutput(project.path, "remote", "get-url", "--push", "origin") === "") return "";
  try {
    const { pushMerges, land } = resolveConfig(configLayers(context, project.path, project));
    if (land.value === "remote") return " Each merge is pushed to origin.";
    return pushMerges.value
      ? " Each merge is also pushed to origin; to prevent that: signalbox config set push_merges false"
      : "";
  } catch (error) {
    // Other commands report a configuration that cannot be read.
    if (error instanceof Fault) return "";
    throw error;
  }
}

const commonNames = ["main", "master", "trunk"];

/** Prints the kind of the project's workspaces, and what a person should know about it. */
export function tellKind({ say, talkPaint }: Context, { name, path, workspaces }: ProjectView): void {
  const change = (kind: string) => `signalbox project update ${name} --workspaces ${kind}`;
  if (workspaces === "worktree") {
    say(`Each task works in a worktree. ${worktreeLimits}. To use clones: ${change("clone")}`);
    return;
  }
  say("Each task works in a clone, which shares nothing with your repository.");
  const filters = ["grep", "--files-with-matches", "filter=", "--", ".gitattributes", "**/.gitattributes"];
  if (gitOutput(path, ...filters) === "") return;
  const what = "This repository filters files, for example with Git LFS. Clones have them as they are committed";
  say(`${talkPaint.yellow("warning:")} ${what}. To have them filtered, use worktrees: ${change("worktree")}`);
}

/** Prints how to make the first commit of a repository that has none. */
export function tellNoCommit({ say }: Context, root: string): void {
  say("It has no commit, and agents need one to start from. Make one, then run signalbox again:");
  const commands = [...identityCommands(root), "git add -A", firstCommit];
  say(commands.map((command) => `  ${command}`).join("\n"));
}

/** The output of git; empty if it fails. */
export function gitOutput(folder: string, ...args: readonly string[]): string {
  return spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" }).stdout?.trim() ?? "";
}
