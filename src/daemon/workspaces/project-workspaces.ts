import { existsSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import { createMemo } from "../../keyed.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Git, Person } from "../../ports/git.ts";
import type { MovedBranch, Project } from "../../ports/store.ts";
import { blockedWorkspace, type WorkspaceKind } from "../../ports/workspaces.ts";

/** The author of the daemon's commits: git's user in the project's repository, or Signalbox if none is configured. */
export async function identityOf(git: Git, repository: string): Promise<Person> {
  try {
    return await git.identityOf(repository);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== "git.no-identity") throw error;
    return { name: "Signalbox", email: "signalbox@localhost" };
  }
}

/** The tools for a project's workspaces. */
export interface ProjectWorkspaces {
  readonly git: Git;
  /** The path of the user's repository. */
  readonly repository: string;
  readonly control: ControlRepository;
  /** The kind used for new workspaces; existing ones keep theirs. */
  readonly kind: WorkspaceKind;
  /** The folder that contains the workspaces. */
  readonly folder: string;
  kindOf(name: KindName): Promise<WorkspaceKind>;
  /** A branch of the user's that an agent in a worktree has moved, checked now; missing where nothing is recorded. */
  movedBranch?(branch: string): Promise<MovedBranch | undefined>;
  /**
   * Whether the branch of an open task moves only by merges of its parts: it has parts, and agents in worktrees could move
   * the branch in the user's repository.
   */
  isJoined?(task: string): Promise<boolean>;
  /** Restores the branch of such a task, which has no workspace, and keeps the commits that were found on it. */
  setAside?(foreign: ForeignTip): Promise<void>;
}

/** A branch of a task that has a commit which no merge has made. */
export interface ForeignTip {
  readonly task: string;
  readonly branch: string;
  /** The commit that the branch should have. */
  readonly commit: string;
  readonly tip: string;
}

export type KindName = WorkspaceKind["kind"];

export type WorkspacesOf = (project: Project) => Promise<ProjectWorkspaces>;

/**
 * Calls `work` for a workspace whose agents have ended. If a named pipe blocks git there, deletes the pipes, which have no
 * content, and calls `work` again.
 */
export async function withoutPipes<T>(
  kind: Pick<WorkspaceKind, "deletePipes">,
  folder: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== blockedWorkspace) throw error;
    if ((await kind.deletePipes(folder)) === 0) throw error;
    return work();
  }
}

interface WorkspacesPorts {
  readonly git: Git;
  readonly places: Pick<Places, "control" | "workspaces">;
  /** Creates the implementation of a workspace kind for one project. */
  kindOf(project: Project, control: ControlRepository, name: KindName): WorkspaceKind | Promise<WorkspaceKind>;
}

/** The path of a project's control repository, which may not exist yet. */
function controlFolder({ control }: Pick<Places, "control">, { name }: Project): string {
  return join(control, `${name}.git`);
}

/** Whether the project has a control repository yet. Does not create one. */
export function isBegun(places: Pick<Places, "control">, project: Project): boolean {
  return existsSync(controlFolder(places, project));
}

/** Opens each project's tools once, and caches them. */
export function createWorkspaces({ git, places, kindOf }: WorkspacesPorts): WorkspacesOf {
  const controlAt = cached((project: Project) => git.openControl(controlFolder(places, project), project.path));
  const kinds = { worktree: cachedKind("worktree"), clone: cachedKind("clone") };
  return async (project) => ({
    git,
    repository: project.path,
    control: await controlAt(project),
    kind: await kinds[project.workspaces](project),
    folder: join(places.workspaces, project.name),
    kindOf: (name) => kinds[name](project),
  });

  function cachedKind(name: KindName) {
    return cached(async (project: Project) => kindOf(project, await controlAt(project), name));
  }
}

function cached<Made>(make: (project: Project) => Promise<Made>): (project: Project) => Promise<Made> {
  const made = createMemo<Made>({ max: Number.POSITIVE_INFINITY });
  return (project) => made.get(`${project.name}\n${project.path}`, () => make(project));
}
