import { nearestBranchName } from "../../engine/branch-name.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Submit } from "../submit.ts";
import type { Turns } from "../turns.ts";
import { isOwnBranch, noteOwnBranch } from "./ended-branches.ts";
import { otherTaskWith } from "./other-task-with.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "./project-workspaces.ts";

export interface RenamePorts {
  readonly store: Store;
  readonly submit: Submit;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
}

/** How a branch of a new name comes about in the task's workspace. */
export type MakeBranch = (workspaces: ProjectWorkspaces, name: string) => Promise<void>;

/**
 * Gives the task's branch a name, or the nearest one that git takes and nobody has: in its workspace, where it has one,
 * and in the task. Asked twice for the same name, it stays at what the first time gave.
 */
export function renameBranch(
  ports: RenamePorts,
  project: Project,
  task: Task,
  wanted: string,
  make: MakeBranch = ({ kind }, name) => kind.renameBranch(task.workspace, name),
): Promise<void> {
  const name = nearestBranchName(wanted);
  return ports.inTurn(`branches ${project.name}`, async () => {
    if (isLike(task.branch, name)) return;
    const workspaces = await ports.workspacesOf(project);
    const current = task.workspace === "" ? undefined : await workspaces.kind.currentBranch(task.workspace);
    // Whoever began this was killed before the task knew.
    const isBegun =
      current !== undefined && current !== task.branch && [name, flat(name)].some((each) => isLike(current, each));
    const isOwn = await isOwnBranch(workspaces.control, task);
    const branch = isBegun ? current : await makeFree(ports, project, task, workspaces, name, make);
    const begin = await workspaces.control.commitAt(`refs/remotes/user/${project.defaultBranch}`);
    if (isOwn && begin !== undefined) await noteOwnBranch(workspaces.control, { id: task.id, branch }, begin);
    await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { branch } });
  });
}

/** The name itself, or with a number behind it. */
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
  // A name below another one's cannot be, whatever number it has.
  const possible = others.some((each) => name.startsWith(`${each}/`)) ? flat(name) : name;
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? possible : `${possible}-${number}`;
    const isTaken = others.some((each) => each === candidate || each.startsWith(`${candidate}/`));
    if (isTaken || (await otherTaskWith(store, task, candidate)) !== undefined) continue;
    try {
      if (task.workspace !== "") await make(workspaces, candidate);
      return candidate;
    } catch (error) {
      // Somebody made it in this moment.
      if (!(error instanceof Fault) || error.code !== "workspace.branch-taken") throw error;
    }
  }
}
