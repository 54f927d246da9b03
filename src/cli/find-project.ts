import { realpathSync } from "node:fs";
import { sep } from "node:path";
import type { Call } from "../api/client.ts";
import { type ProjectView, routes } from "../api/routes.ts";
import { didYouMean } from "../engine/language/nearest.ts";
import { Fault } from "../fault.ts";
import { mainRepository } from "./git-head.ts";

/** The project that is named, else that of this folder, else the only one there is. */
export async function findProject(call: Call, named: string | undefined): Promise<ProjectView> {
  const { projects } = await call(routes.listProjects);
  if (named !== undefined) return projectNamed(projects, named);
  const here = projectAt(projects, process.cwd());
  if (here !== undefined) return here;
  const [only, ...others] = projects;
  if (only === undefined) {
    throw new Fault("project.missing", "There is no project yet.", {
      hint: "To make a repository one, in it: signalbox init",
    });
  }
  if (others.length === 0) return only;
  throw new Fault("usage", "This folder is in none of your projects, so one has to be named.", {
    hint: `Add --project with one of these: ${projects.map(({ name }) => name).join(", ")}.`,
  });
}

/** The project of this folder, if it is in one. */
export async function projectHere(call: Call): Promise<ProjectView | undefined> {
  const { projects } = await call(routes.listProjects);
  return projectAt(projects, process.cwd());
}

/** Of the projects whose folder contains this one the innermost; a worktree belongs to the repository it is of. */
export function projectAt(projects: readonly ProjectView[], folder: string): ProjectView | undefined {
  const real = realPath(folder);
  return innermost(projects, real) ?? innermost(projects, mainRepository(real) ?? real);
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

function innermost(projects: readonly ProjectView[], folder: string): ProjectView | undefined {
  return projects
    .filter(({ path }) => `${folder}${sep}`.startsWith(`${path.replace(/[/\\]$/, "")}${sep}`))
    .sort((a, b) => b.path.length - a.path.length)[0];
}
