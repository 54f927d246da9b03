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
  readonly control: ControlRepository;
  readonly kind: WorkspaceKind;
  /** Where they lie. */
  readonly folder: string;
}

export type WorkspacesOf = (project: Project) => Promise<ProjectWorkspaces>;

export interface WorkspacesPorts {
  readonly git: Git;
  readonly places: Pick<Places, "control" | "workspaces">;
  /** Made for one project: how its working copies are made, looked at and taken away. */
  kindOf(project: Project, control: ControlRepository): WorkspaceKind;
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
  const opened = new Map<string, Promise<ProjectWorkspaces>>();
  return (project) => {
    const key = `${project.name}\n${project.path}`;
    const before = opened.get(key);
    if (before !== undefined) return before;
    const opening = git.openControl(controlFolder(places, project), project.path).then((control) => ({
      git,
      control,
      kind: kindOf(project, control),
      folder: join(places.workspaces, project.name),
    }));
    opened.set(key, opening);
    // What failed is tried again by whoever asks next.
    opening.catch(() => opened.delete(key));
    return opening;
  };
}
