import type { Task } from "../engine/task.ts";
import { Fault, tell } from "../fault.ts";
import { type ControlRepository, taskRef } from "../ports/control-repository.ts";
import type { Project, Store } from "../ports/store.ts";
import { shellWord } from "../shell-quote.ts";
import { movedAside, movedTarget, movedTrouble, targetTrouble } from "./moved-target.ts";
import { remoteName, remoteOf, targetOf } from "./project.ts";
import type { ProjectWorkspaces } from "./workspaces/project-workspaces.ts";
import { unreadableWorkspace } from "./workspaces/unsaved-workspaces.ts";

/** The commit with all of a task's work, or why it cannot be merged. */
export type MergeableWork =
  | { readonly kind: "ready"; readonly commit: string }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Reads the work of a task from its workspace or, where that is gone, from what was collected. A workspace that exists but
 * cannot be read may contain later commits and uncommitted files, so its task is refused. `leaves`: uncommitted files are
 * not part of the work, such as files that tests have left.
 */
export async function mergeableWork(
  store: Pick<Store, "listTasks">,
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  leaves = false,
): Promise<MergeableWork> {
  const { control, kind } = own;
  const trouble = await targetTrouble(own, project, targetOf(project, task), store, task);
  if (trouble !== undefined) return { kind: "refused", reason: `${trouble.reason}\n${trouble.fix}` };
  const folder = task.workspace;
  const found = folder === "" ? undefined : await kind.inspect(folder);
  if (found?.kind === "broken") return { kind: "refused", reason: tell(unreadableWorkspace(task, found.reason)) };
  if (found?.kind !== "there") return collected(own, project, task);
  if (found.operation !== undefined)
    return { kind: "refused", reason: `A ${found.operation} is in progress in ${folder}. Finish it, or abort it.` };
  if (found.branch === undefined) {
    const { reason, fix } = await offBranch(own, task, found.head);
    return { kind: "refused", reason: `${reason} ${fix}` };
  }
  // Uncommitted changes would not be in the branch, but the task would count as merged.
  if (found.dirty && !leaves)
    return { kind: "refused", reason: `There are changes in ${folder} that are not committed. Commit them there.` };
  if (await kind.isTaskFileTracked(folder, await kind.taskFileName(folder)))
    return {
      kind: "refused",
      reason: `The branch "${found.branch}" contains the task file. Remove it: git rm --cached`,
    };
  try {
    const { commit } = await control.collect({ folder, branch: found.branch, task: task.id, seenAt: found.head });
    return { kind: "ready", commit };
  } catch (error) {
    if (isOtherBranch(error)) return { kind: "refused", reason: `${error.message} ${error.hint}` };
    throw error;
  }
}

/** The trouble of a workspace on no branch, with the command that returns to the task's branch, even if that was deleted. */
export async function offBranch(
  { control, kind }: Pick<ProjectWorkspaces, "control" | "kind">,
  { id, workspace, branch }: Pick<Task, "id" | "workspace" | "branch">,
  head: string,
): Promise<{ readonly reason: string; readonly fix: string }> {
  const git = `git -C ${shellWord(workspace)}`;
  const isIn = (commit: string, tip: string) =>
    control.isAncestor(commit, tip).catch((error: unknown) => {
      // The control repository does not have commits that were not collected yet.
      if (error instanceof Fault) return false;
      throw error;
    });
  const tip = await kind.branchAt(workspace, branch);
  const last = tip ?? (await control.commitAt(taskRef(id)));
  const isAhead = tip === undefined && (last === undefined || (await isIn(last, head)));
  const back = tip === undefined ? `${git} switch -C ${branch}${isAhead ? "" : ` ${last}`}` : `${git} switch ${branch}`;
  const isTaken = isAhead || (last !== undefined && (await isIn(head, last)));
  const fix = isTaken ? back : `${back} && ${git} merge ${head}`;
  return {
    reason: `${workspace} is on no branch${tip === undefined ? `, and its branch "${branch}" was deleted` : ""}.`,
    fix: `Go back to the task's branch, with what was committed: ${fix}`,
  };
}

async function collected(own: ProjectWorkspaces, project: Project, task: Task): Promise<MergeableWork> {
  const commit = await keptWork(own, project, task);
  if (commit !== undefined) return { kind: "ready", commit };
  return { kind: "refused", reason: `There is no branch "${task.branch}" yet, so there is nothing to merge.` };
}

/**
 * The commit of a task's work where its workspace is gone or was released: as last collected, or the branch in the
 * user's repository if that has more. Undefined where there is neither.
 */
export async function keptWork(
  { control }: Pick<ProjectWorkspaces, "control">,
  project: Project,
  { id, branch }: Pick<Task, "id" | "branch">,
): Promise<string | undefined> {
  const collected = await control.commitAt(taskRef(id));
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  const own = branches[branch];
  if (collected === undefined || own === undefined) return collected ?? own;
  return (await control.isAncestor(collected, own)) ? own : collected;
}

/**
 * The commit of a task's work: collected from its workspace, else as last collected, else the user's own branch of that
 * name. Undefined where there is none of these.
 */
export async function taskCommit(
  { control, kind }: ProjectWorkspaces,
  project: Project,
  task: Task,
): Promise<string | undefined> {
  const found = task.workspace === "" ? undefined : await kind.inspect(task.workspace);
  if (found?.kind === "there" && found.branch !== undefined) {
    return (await control.collect({ folder: task.workspace, branch: found.branch, task: task.id })).commit;
  }
  return keptWork({ control }, project, task);
}

/**
 * Where work is merged: into the user's branch only, into the remote's too, or into the remote's, which the user's then
 * follows.
 */
export type Where = "here" | "both" | "remote";

/** The commits of a branch in the user's repository and on the remote. */
export interface Tips {
  /** In the user's repository. */
  readonly user: string;
  /** Undefined where nothing is pushed. */
  readonly remote: { readonly address: string; readonly at: string | undefined } | undefined;
  /** The commit that contains the other; `apart` where they have diverged. */
  readonly base: string;
  readonly apart: boolean;
}

/** The last known commit of the branch that work is merged into. */
export async function lastSeen(control: ControlRepository, branch: string, where: Where): Promise<string | undefined> {
  const there = where === "remote" ? await control.commitAt(`refs/remotes/${remoteName}/${branch}`) : undefined;
  return there ?? control.commitAt(`refs/remotes/user/${branch}`);
}

/**
 * Fetches the user's branch and, where there is a remote that counts, the remote's. Refuses a branch that was moved without
 * a merge.
 */
export async function findTips(own: ProjectWorkspaces, project: Project, target: string, where: Where): Promise<Tips> {
  const { control, git } = own;
  const moved = await movedTarget(own, project, target);
  if (moved !== undefined) {
    const { reason, fix } = movedTrouble(moved);
    throw new Fault("merge.moved-target", reason, { hint: fix });
  }
  const aside = await movedAside(own, project, target);
  if (aside !== undefined) throw new Fault("merge.moved-target", aside.reason, { hint: aside.fix });
  const user = (await control.syncFrom({ from: project.path, name: "user", only: [target] })).branches[target];
  if (user === undefined) {
    throw new Fault("merge.no-target", `${project.path} has no branch "${target}" with a commit in it.`, {
      hint: `Name the default branch: signalbox project update ${project.name} --default-branch NAME`,
    });
  }
  const address = where === "here" ? undefined : await remoteOf(git, project);
  if (address === undefined) return { user, remote: undefined, base: user, apart: false };
  const at = (await control.syncFrom({ from: address, name: remoteName })).branches[target];
  const remote = { address, at };
  if (where === "remote") return { user, remote, base: at ?? user, apart: false };
  if (at === undefined || (await control.isAncestor(at, user))) return { user, remote, base: user, apart: false };
  if (await control.isAncestor(user, at)) return { user, remote, base: at, apart: false };
  return { user, remote, base: user, apart: true };
}

export const otherBranchCode = "workspace.other-branch";

/** Whether a workspace has a branch checked out that is not its task's, so that its commits are not the task's work. */
export function isOtherBranch(error: unknown): error is Fault {
  return error instanceof Fault && error.code === otherBranchCode;
}
