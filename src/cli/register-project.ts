import { spawnSync } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Call } from "../api/client.ts";
import { type ProjectView, routes } from "../api/routes.ts";
import { Fault } from "../fault.ts";
import { findRepository } from "../home/find-repository.ts";
import type { Context } from "./context.ts";
import { given } from "./given.ts";
import { shellWord } from "./shell-word.ts";

export interface ProjectFlags {
  readonly workflow?: string;
  readonly harness?: string;
  readonly "review-harness"?: string;
  readonly "pool-size"?: number;
  readonly "branch-prefix"?: string;
  readonly "default-branch"?: string;
  readonly workspaces?: "worktree" | "clone";
  readonly "full-permissions"?: "allow" | "ask";
}

/** The root of the repository that a path is in, as the daemon will know it. */
export function repositoryOf(path: string): string {
  const folder = resolve(path);
  if (!existsSync(folder)) throw new Fault("not-found", `There is no folder ${path}.`);
  const root = findRepository(realpathSync(folder));
  if (root !== undefined) return root;
  if (isBare(folder)) {
    throw new Fault("repository.missing", `${folder} is a bare repository, without files to work on.`, {
      hint: `To work on a clone of it: signalbox project add ${shellWord(pathToFileURL(folder).href)}`,
    });
  }
  throw new Fault("repository.missing", `${folder} is in no git repository.`, {
    hint: `To make it one: git -C ${shellWord(folder)} init`,
  });
}

function isBare(folder: string): boolean {
  return ["HEAD", "objects", "refs"].every((name) => existsSync(join(folder, name)));
}

/** Registers a repository. Without a name it is called after its folder. */
export async function registerProject(
  call: Call,
  projects: readonly ProjectView[],
  root: string,
  named: string | undefined,
  flags: ProjectFlags,
): Promise<ProjectView> {
  const name = named ?? nameFrom(root);
  const taken = projects.find((project) => project.name === name);
  if (taken !== undefined && taken.path !== root) {
    throw new Fault("project.exists", `There is a project "${name}" already, in ${taken.path}.`, {
      hint: "Choose another name: --name NAME",
    });
  }
  return call(routes.addProject, { body: { name, path: root, ...projectSettings(flags) } });
}

export function projectSettings(flags: ProjectFlags) {
  return given({
    workflow: flags.workflow,
    harness: flags.harness,
    reviewHarness: flags["review-harness"],
    poolSize: flags["pool-size"],
    branchPrefix: flags["branch-prefix"],
    defaultBranch: flags["default-branch"],
    workspaces: flags.workspaces,
    fullPermissions: flags["full-permissions"],
  });
}

/** Says which branch work is merged into, and warns where that branch looks like one that was checked out by chance. */
export function tellBranch({ say, talkPaint }: Context, { name, path, defaultBranch }: ProjectView): void {
  say(`Work starts from ${defaultBranch}, and is merged into it.`);
  const remotes = git(path, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD").replace(/^origin\//, "");
  const here = git(path, "for-each-ref", "--format=%(refname:short)", "refs/heads").split("\n");
  const usual = [remotes, ...usualBranches.filter((branch) => here.includes(branch))].filter(Boolean);
  const [main] = usual;
  if (main === undefined || [...usual, ...usualBranches].includes(defaultBranch)) return;
  const why = main === remotes ? "the remote's default" : "there too";
  const make = here.includes(main)
    ? ""
    : `git -C ${shellWord(path)} branch ${shellWord(main)} origin/${shellWord(main)} && `;
  say(
    `${talkPaint.yellow("warning:")} It was checked out, and ${main} is ${why}. To merge into ${main} instead: ${make}signalbox project update ${name} --default-branch ${shellWord(main)}`,
  );
}

const usualBranches = ["main", "master", "trunk"];

/** What git says; empty where it says nothing. */
function git(folder: string, ...args: readonly string[]): string {
  return spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" }).stdout?.trim() ?? "";
}

/** A folder's name with nothing in it that a project's cannot have. */
export function nameFrom(folder: string): string {
  const name = basename(folder)
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 50)
    .replace(/-+$/, "");
  return name === "" ? "project" : name;
}
