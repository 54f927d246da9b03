import type { Task } from "../engine/task.ts";
import { Fault, tell } from "../fault.ts";
import { taskRef } from "../ports/control-repository.ts";
import type { Project, Store } from "../ports/store.ts";
import { shellWord } from "../shell-quote.ts";
import { placeOf } from "./landing-place.ts";
import { parentOf } from "./project.ts";
import type { ProjectWorkspaces } from "./workspaces/project-workspaces.ts";
import { unreadableWorkspace } from "./workspaces/unsaved-workspaces.ts";

/** The commit with all of a task's work, or why it cannot be merged. */
export type MergeableWork =
  | { readonly kind: "ready"; readonly commit: string }
  | {
      readonly kind: "refused";
      readonly reason: string;
      /** It is about something outside of the task, such as the target branch, and a person mends it. */
      readonly isOutside?: true;
    };

/**
 * Reads the work of a task from its workspace or, where that is gone, from what was collected. A workspace that exists but
 * cannot be read may contain later commits and uncommitted files, so its task is refused. `leaves`: uncommitted files are
 * not part of the work, such as files that tests have left.
 */
export async function mergeableWork(
  store: Pick<Store, "getTask" | "getWorkflow" | "listTasks" | "workspaces">,
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  leaves = false,
): Promise<MergeableWork> {
  const { control, kind } = own;
  const trouble = await (await placeOf({ store, where: "here" }, own, project, task)).trouble(task);
  if (trouble !== undefined) return refusedAt(task, trouble);
  const folder = task.workspace;
  const found = folder === "" ? undefined : await kind.inspect(folder);
  if (found?.kind === "broken")
    return { kind: "refused", reason: tell(unreadableWorkspace(task, found.reason)), isOutside: true };
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
  const file = await kind.taskFileName(folder);
  if (await kind.isTaskFileTracked(folder, file))
    return {
      kind: "refused",
      reason: `The branch "${found.branch}" contains the task file ${file}. Remove it in ${folder}, and commit: git rm --cached ${file}`,
    };
  try {
    const { commit } = await control.collect({ folder, branch: found.branch, task: task.id, seenAt: found.head });
    return { kind: "ready", commit };
  } catch (error) {
    if (isOtherBranch(error)) return { kind: "refused", reason: `${error.message} ${error.hint}` };
    throw error;
  }
}

/** The refusal for the branch that the work goes into. A person mends a branch of the user's; a parent that has ended stays so. */
export function refusedAt(
  task: Partial<Pick<Task, "parent" | "part">>,
  { reason, fix }: { readonly reason: string; readonly fix: string },
): MergeableWork {
  return { kind: "refused", reason: `${reason}\n${fix}`, ...(parentOf(task) === "" ? { isOutside: true } : {}) };
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
 * user's repository if that has more. Undefined where there is neither. The branch of a parent without a workspace moves only by
 * merges of its parts: what else is on it is set aside.
 */
export async function keptWork(
  { control, isJoined, setAside }: Pick<ProjectWorkspaces, "control" | "isJoined" | "setAside">,
  project: Project,
  {
    id,
    branch,
    workspace,
    ...rest
  }: Pick<Task, "id" | "branch" | "workspace"> & Partial<Pick<Task, "parent" | "part">>,
): Promise<string | undefined> {
  const collected = await control.commitAt(taskRef(id));
  // The branch of a part belongs to its slot: another part may have it by now.
  if (collected !== undefined && parentOf(rest) !== "") return collected;
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  const own = branches[branch];
  if (collected === undefined || own === undefined) return collected ?? own;
  if (workspace === "" && own !== collected && (await isJoined?.(id)) === true) {
    if (!(await control.isAncestor(own, collected)))
      await setAside?.({ task: id, branch, commit: collected, tip: own });
    return collected;
  }
  return (await control.isAncestor(collected, own)) ? own : collected;
}

/**
 * The commit of a task's work: collected from its workspace, else as last collected, else the user's own branch of that
 * name. Undefined where there is none of these.
 */
export async function taskCommit(own: ProjectWorkspaces, project: Project, task: Task): Promise<string | undefined> {
  const { control, kind } = own;
  const { id, workspace: folder } = task;
  // Reads files only. An inspection would also compare every file with the commit.
  const isIntact = folder !== "" && (await kind.flawOf(folder)) === undefined;
  const branch = isIntact ? await kind.currentBranch(folder) : undefined;
  if (branch === undefined) return keptWork(own, project, task);
  const seenAt = await kind.branchAt(folder, branch);
  return (await control.collect({ folder, branch, task: id, ...(seenAt === undefined ? {} : { seenAt }) })).commit;
}

export const otherBranchCode = "workspace.other-branch";

/** Whether a workspace has a branch checked out that is not its task's, so that its commits are not the task's work. */
export function isOtherBranch(error: unknown): error is Fault {
  return error instanceof Fault && error.code === otherBranchCode;
}
