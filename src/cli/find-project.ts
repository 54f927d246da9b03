import { realpathSync } from "node:fs";
import { sep } from "node:path";
import type { Call } from "../api/client.ts";
import { type ProjectView, routes } from "../api/routes.ts";
import { didYouMean } from "../engine/language/nearest.ts";
import { Fault } from "../fault.ts";
import { contains } from "../home/agents-at-work.ts";
import { findRepository } from "../home/find-repository.ts";
import { shownPath } from "../home/shown-path.ts";
import { mainRepository } from "./git-head.ts";

/**
 * The project that a command changes: the named one, else that of this folder. It is never guessed: work that starts in
 * the wrong repository cannot be taken back.
 */
export async function findProject(call: Call, named: string | undefined): Promise<ProjectView> {
  const { projects } = await call(routes.listProjects);
  if (named !== undefined) return projectNamed(projects, named);
  const here = await projectOfFolder(call, projects);
  if (here !== undefined) return here;
  throw noProjectHere(projects, process.cwd());
}

/** The project that a command shows. Outside of git the only project is meant, since a look changes nothing. */
export async function findProjectToShow(call: Call, named: string | undefined): Promise<ProjectView> {
  const { projects } = await call(routes.listProjects);
  const [only, another] = projects;
  const isAlone = only !== undefined && another === undefined && findRepository(realPath(process.cwd())) === undefined;
  return named === undefined && isAlone ? only : findProject(call, named);
}

/** The project of this folder, if it is in one. */
export async function projectHere(call: Call): Promise<ProjectView | undefined> {
  const { projects } = await call(routes.listProjects);
  return projectOfFolder(call, projects);
}

/** As `projectAt`, and in a workspace of kind `clone`, which git does not connect with its project, the project of its task. */
export async function projectOfFolder(call: Call, projects: readonly ProjectView[]): Promise<ProjectView | undefined> {
  const here = projectAt(projects, process.cwd());
  if (here !== undefined || projects.length === 0) return here;
  try {
    const { task } = await call(routes.getTask, { params: { task: "." }, query: {} });
    return projects.find(({ name }) => name === task.project);
  } catch (error) {
    if (error instanceof Fault && error.code === "task.missing") return undefined;
    throw error;
  }
}

/**
 * The project whose repository a folder is in. A worktree belongs to the repository it is of. A submodule, or any other
 * repository inside of a project, is a repository of its own.
 */
export function projectAt(projects: readonly ProjectView[], folder: string): ProjectView | undefined {
  const real = realPath(folder);
  const repository = findRepository(real);
  const around = innermost(projects, real);
  if (around !== undefined && (repository === undefined || contains(repository, realPath(around.path)))) return around;
  const main = mainRepository(real);
  return projects.find(({ path }) => realPath(path) === main);
}

export function projectNamed(projects: readonly ProjectView[], name: string): ProjectView {
  const found = projects.find((project) => project.name === name);
  if (found !== undefined) return found;
  const names = projects.map((project) => project.name);
  throw new Fault("project.missing", `There is no project "${name}".`, {
    hint: `${didYouMean(name, names)}\nTo see them: signalbox project list`,
  });
}

export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Why a folder means no project, and what to say instead. */
export function noProjectHere(projects: readonly ProjectView[], folder: string): Fault {
  const repository = findRepository(realPath(folder));
  const names = projects.map(({ name }) => name).join(", ");
  if (repository !== undefined) {
    const around = innermost(projects, realPath(folder));
    const inside = around === undefined ? "" : `, although it lies in the folder of "${around.name}"`;
    const other = projects.length === 0 ? "" : `\nTo mean another project, add --project with its name: ${names}`;
    return new Fault("project.missing", `The git repository ${shownPath(repository)} is not a project${inside}.`, {
      hint: `To make it one: signalbox init${other}`,
    });
  }
  if (projects.length === 0) {
    return new Fault("project.missing", "There is no project yet.", {
      hint: "To make a repository one, in it: signalbox init",
    });
  }
  return new Fault("usage", "This folder is not in a project.", {
    hint: `Go to the folder of one, or add --project with its name: ${names}`,
  });
}

function innermost(projects: readonly ProjectView[], folder: string): ProjectView | undefined {
  return projects
    .filter(({ path }) => `${folder}${sep}`.startsWith(`${realPath(path).replace(/[/\\]$/, "")}${sep}`))
    .sort((a, b) => b.path.length - a.path.length)[0];
}
