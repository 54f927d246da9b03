import { existsSync } from "node:fs";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Store } from "../../ports/store.ts";
import { movedPast } from "../merging/moved-past.ts";
import { isOtherBranch } from "./checked-out.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "./project-workspaces.ts";

export interface Trouble {
  /** A sentence. */
  readonly reason: string;
  readonly fix: string;
}

/**
 * What is wrong with a task's workspace or its project's repository; undefined where nothing is. Runs git only where another
 * branch than the task's is checked out, or where the user's checkout was left behind.
 */
export async function workspaceTrouble(
  { store, workspacesOf }: { readonly store: Store; readonly workspacesOf: WorkspacesOf },
  task: Pick<Task, "id" | "project" | "workspace" | "branch" | "base">,
): Promise<Trouble | undefined> {
  const { id, project: name, workspace, branch } = task;
  if (workspace === "") return undefined;
  const project = await store.getProject(name);
  if (project === undefined) return undefined;
  if (!existsSync(project.path)) {
    const reason = `The repository of ${name} is not at ${project.path} any more.`;
    return { reason, fix: `Say where it is now: signalbox project update ${name} --path PATH` };
  }
  const fix = `Make it again from what was saved: signalbox task respawn ${id}`;
  try {
    const workspaces = await workspacesOf(project);
    const flaw = await workspaces.kind.flawOf(workspace);
    if (flaw === undefined)
      return (
        (await movedPast(workspaces, project, task, () => headOf(workspaces, workspace))) ??
        (await otherBranch(workspaces, { id, workspace, branch }))
      );
    const isGone = !existsSync(workspace);
    return { reason: isGone ? `Its workspace ${workspace} is gone.` : `Its workspace ${workspace}: ${flaw}`, fix };
  } catch (error) {
    // What may pass by itself is nobody's business yet.
    if (!(error instanceof Fault) || error.retry !== "never") return undefined;
    return { reason: `Its workspace ${workspace}: ${error.message}`, fix };
  }
}

async function headOf({ kind }: ProjectWorkspaces, workspace: string): Promise<string | undefined> {
  const found = await kind.inspect(workspace);
  return found.kind === "there" ? found.head : undefined;
}

async function otherBranch(
  { kind, control }: ProjectWorkspaces,
  { id, workspace, branch: own }: Pick<Task, "id" | "workspace" | "branch">,
): Promise<Trouble | undefined> {
  const branch = await kind.currentBranch(workspace);
  if (branch === undefined || branch === own) return undefined;
  const trouble = await control.collect({ folder: workspace, branch, task: id }).catch((error: unknown) => error);
  // The request that needs the collected work reports every other fault.
  return isOtherBranch(trouble) ? { reason: trouble.message, fix: trouble.hint ?? "" } : undefined;
}
