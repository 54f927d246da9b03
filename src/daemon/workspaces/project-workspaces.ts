import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Places } from "../../home/places.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Git } from "../../ports/git.ts";
import type { Project } from "../../ports/store.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";

/** What a project's working copies are made with. */
export interface ProjectWorkspaces {
  readonly git: Git;
  /** The user's own. */
  readonly repository: string;
  readonly control: ControlRepository;
  /** Of new ones as the project says; what is there already is treated as what it is. */
  readonly kind: WorkspaceKind;
  /** Where they lie. */
  readonly folder: string;
  kindOf(name: KindName): Promise<WorkspaceKind>;
}

export type KindName = WorkspaceKind["kind"];

/** How new workspaces of a project are made. */
export function kindNameOf({ workspaces = "worktree" }: Pick<Project, "workspaces">): KindName {
  return workspaces;
}

export type WorkspacesOf = (project: Project) => Promise<ProjectWorkspaces>;

export interface WorkspacesPorts {
  readonly git: Git;
  readonly places: Pick<Places, "control" | "workspaces">;
  /** Made for one project: how its working copies are made, looked at and taken away. */
  kindOf(project: Project, control: ControlRepository, name: KindName): WorkspaceKind | Promise<WorkspaceKind>;
}

/** Where a project's control repository is, or will be. */
function controlFolder({ control }: Pick<Places, "control">, { name }: Project): string {
  return join(control, `${name}.git`);
}

/** Whether anything was ever made for the project: then it has a control repository. Asking makes nothing. */
export function isBegun(places: Pick<Places, "control">, project: Project): boolean {
  return existsSync(controlFolder(places, project));
}

/** Opened once for each project, and kept. */
export function createWorkspaces({ git, places, kindOf }: WorkspacesPorts): WorkspacesOf {
  const controlAt = keeping((project: Project) => git.openControl(controlFolder(places, project), project.path));
  const kinds = { worktree: kept("worktree"), clone: kept("clone") };
  return async (project) => ({
    git,
    repository: project.path,
    control: await controlAt(project),
    kind: await kinds[kindNameOf(project)](project),
    folder: join(places.workspaces, project.name),
    kindOf: (name) => kinds[name](project),
  });

  function kept(name: KindName) {
    return keeping(async (project: Project) => kindOf(project, await controlAt(project), name));
  }
}

function keeping<Made>(make: (project: Project) => Promise<Made>): (project: Project) => Promise<Made> {
  const made = new Map<string, Promise<Made>>();
  return (project) => {
    const key = `${project.name}\n${project.path}`;
    const before = made.get(key);
    if (before !== undefined) return before;
    const making = make(project);
    made.set(key, making);
    // What failed is tried again by whoever asks next.
    making.catch(() => made.delete(key));
    return making;
  };
}
