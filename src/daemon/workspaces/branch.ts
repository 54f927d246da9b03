import { nearestBranchName } from "../../engine/branch-name.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Log } from "../../ports/system.ts";
import type { Submit } from "../submit.ts";
import { isOtherBranch } from "../task-work.ts";
import type { FollowBranch } from "./outside.ts";
import { isOwnBranch, noteOwnBranch, otherTaskWith } from "./own-branches.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "./project-workspaces.ts";

/** Checks out the branch if it exists; otherwise renames the branch that is checked out. */
export async function changeBranch(
  { control, kind }: ProjectWorkspaces,
  project: Project,
  folder: string,
  branch: string,
): Promise<void> {
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  if (branches[branch] !== undefined) return kind.switchBranch(folder, branch);
  try {
    await kind.renameBranch(folder, branch);
  } catch (error) {
    // The branch exists, but only in this workspace.
    if (!(error instanceof Fault) || error.code !== "workspace.branch-taken") throw error;
    await kind.switchBranch(folder, branch);
  }
}

interface FollowPorts {
  readonly store: Store;
  readonly log: Log;
  readonly submit: Submit;
  readonly workspacesOf: WorkspacesOf;
  /** Called when the trouble of a task's workspace has changed. */
  troubled(task: string): void;
}

/**
 * Called when an agent has renamed its branch or checked out another one: the task follows if `collect` accepts that branch as
 * the task's work. Otherwise the task keeps its branch.
 */
export function createFollowBranch({ store, log, submit, workspacesOf, troubled }: FollowPorts): FollowBranch {
  const underWay = new Set<string>();
  const told = new Map<string, string>();
  return (task, branch) => {
    const key = `${task.id} ${branch}`;
    if (underWay.has(key)) return;
    underWay.add(key);
    const follow = async () => {
      const project = await store.getProject(task.project);
      const now = (await store.getTask(task.id))?.task;
      if (project === undefined || now === undefined || now.branch === branch || now.workspace === "") return;
      const { control } = await workspacesOf(project);
      await control.collect({ folder: now.workspace, branch, task: task.id });
      told.delete(task.id);
      await submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { branch } });
    };
    follow()
      .catch((error) => {
        if (!isOtherBranch(error))
          return log.error("The branch of a task could not be updated", { task: task.id, branch, error });
        // Report the same reason only once.
        if (told.get(task.id) === error.message) return;
        told.set(task.id, error.message);
        troubled(task.id);
        log.warn("A workspace has a branch that its task cannot have", { branch, why: error.message });
      })
      .finally(() => underWay.delete(key));
  };
}

export interface RenamePorts {
  readonly store: Store;
  readonly submit: Submit;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
}

/** Creates a branch of a new name in the task's workspace. */
export type MakeBranch = (workspaces: ProjectWorkspaces, name: string) => Promise<void>;

/** Removes what an ended task has left under a name, if nothing is lost. `tip`: the branch in the user's repository. */
export type FreeName = (workspaces: ProjectWorkspaces, name: string, tip: string | undefined) => Promise<void>;

/**
 * Gives the task's branch this name, or the nearest one that git accepts and that is free: in its workspace, if it has one, and
 * in the task. Idempotent: a second call for the same name keeps the result of the first.
 */
export function renameBranch(
  ports: RenamePorts,
  project: Project,
  task: Task,
  wanted: string,
  make: MakeBranch = ({ kind }, name) => kind.renameBranch(task.workspace, name),
  free: FreeName = async () => {},
): Promise<void> {
  const name = nearestBranchName(wanted);
  return ports.inTurn(`branches ${project.name}`, async () => {
    if (isLike(task.branch, name)) return;
    const workspaces = await ports.workspacesOf(project);
    const current = task.workspace === "" ? undefined : await workspaces.kind.currentBranch(task.workspace);
    // An earlier call was interrupted after the rename, before the task was updated.
    const isBegun =
      current !== undefined && current !== task.branch && [name, flat(name)].some((each) => isLike(current, each));
    const isOwn = await isOwnBranch(workspaces.control, task);
    if (!isBegun) {
      const { branches } = await workspaces.control.syncFrom({ from: project.path, name: "user" });
      await free(workspaces, name, branches[name]);
    }
    const branch = isBegun ? current : await makeFree(ports, project, task, workspaces, name, make);
    const begin = await workspaces.control.commitAt(`refs/remotes/user/${project.defaultBranch}`);
    if (isOwn && begin !== undefined) await noteOwnBranch(workspaces.control, { id: task.id, branch }, begin);
    await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { branch } });
  });
}

/** The name itself, or the name with a number appended. */
function isLike(branch: string, name: string): boolean {
  return branch === name || (branch.startsWith(`${name}-`) && /^\d+$/.test(branch.slice(name.length + 1)));
}

function flat(name: string): string {
  return name.replaceAll("/", "-");
}

async function makeFree(
  { store }: RenamePorts,
  project: Project,
  task: Task,
  workspaces: ProjectWorkspaces,
  name: string,
  make: MakeBranch,
): Promise<string> {
  const { branches } = await workspaces.control.syncFrom({ from: project.path, name: "user" });
  const others = Object.keys(branches).filter((each) => each !== task.branch);
  // Git allows no branch below another branch's name, whatever number it has.
  const possible = others.some((each) => name.startsWith(`${each}/`)) ? flat(name) : name;
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? possible : `${possible}-${number}`;
    const isTaken = others.some((each) => each === candidate || each.startsWith(`${candidate}/`));
    if (isTaken || (await otherTaskWith(store, task, candidate)) !== undefined) continue;
    try {
      if (task.workspace !== "") await make(workspaces, candidate);
      return candidate;
    } catch (error) {
      // The branch was created just now.
      if (!(error instanceof Fault) || error.code !== "workspace.branch-taken") throw error;
    }
  }
}
