import type { Task } from "../engine/task.ts";
import { Fault } from "../fault.ts";
import type { LeftBehind } from "../ports/git.ts";
import type { MovedBranch, Project, Store } from "../ports/store.ts";
import { shellWord } from "../shell-quote.ts";
import { allTasks, targetOf } from "./project.ts";
import type { ProjectWorkspaces } from "./workspaces/project-workspaces.ts";

/** A target branch that was moved or deleted without a merge, so that the user's checkout of it was left behind. */
interface MovedTarget extends LeftBehind {
  readonly target: string;
  /** The open or ended tasks to whose commits the branch was moved, as far as reflogs show. */
  readonly tasks: readonly Task[];
}

type Workspaces = Pick<ProjectWorkspaces, "git" | "folder" | "movedBranch">;

/**
 * Undefined where merges, or the user in the checkout, have put the branch where it is. Without a store the tasks are not
 * searched. Runs no git where the branch was not moved.
 */
export async function movedTarget(
  { git, folder }: Workspaces,
  project: Project,
  target: string,
  store?: Pick<Store, "listTasks">,
): Promise<MovedTarget | undefined> {
  const left = await git.leftBehind(project.path, target, folder);
  if (left === undefined) return undefined;
  const isMaker = ({ branch, workspace }: Task) =>
    left.branches.includes(branch) || (workspace !== "" && left.workspaces.includes(workspace));
  const isLookedFor = store !== undefined && left.branches.length + left.workspaces.length > 0;
  const all = isLookedFor ? await allTasks(store, { project: project.name }) : [];
  return { ...left, target, tasks: all.map(({ task }) => task).filter(isMaker) };
}

export interface TargetTrouble {
  /** Sentences. */
  readonly reason: string;
  /** One solution on each line. */
  readonly fix: string;
}

/** The trouble as a person reads it. `asking`: the task for which it is reported. */
export function movedTrouble(moved: MovedTarget, asking?: Pick<Task, "id">): TargetTrouble {
  const { target, folder, before, after, way } = moved;
  const [from, to] = [before.slice(0, 10), after?.slice(0, 10) ?? ""];
  const git = `git -C ${shellWord(folder)}`;
  const ref = `refs/heads/${shellWord(target)}`;
  if (after === undefined)
    return {
      reason: `"${target}" was deleted while it was checked out in ${folder}. Its last commit there was ${from}.`,
      fix: `Restore it: ${git} update-ref ${ref} ${before}`,
    };
  const back = `${git} update-ref ${ref} ${before} ${after}`;
  const accept = `Or accept it, and update the checkout: ${back} && ${git} reset --keep ${after}`;
  const stale = `The files in ${folder} are still those of ${from}`;
  if (way === "back")
    return {
      reason: `"${target}" was moved back while it was checked out, from ${from} to ${to}. ${stale}, so git reports them there as changed.`,
      fix: `Restore it: ${back}\n${accept}`,
    };
  const apart = way === "apart" ? " The new commit does not contain the old one." : "";
  return {
    reason: `"${target}" was moved${whose(moved, asking)} without a merge, from ${from} to ${to}.${apart} ${stale}, so git reports the new files there as deleted.`,
    fix: `See the commits: ${git} log -p ${from}..${to}\nUndo the move, and then merge the task: ${back}\n${accept}`,
  };
}

function whose({ tasks, branches }: MovedTarget, asking: Pick<Task, "id"> | undefined): string {
  if (tasks.some(({ id }) => id === asking?.id)) return " to commits of this task";
  const names = tasks.length > 0 ? tasks.map(({ project, number, id }) => `${project}#${number} (${id})`) : branches;
  return names.length === 0 ? "" : ` to commits of ${names.join(" and ")}`;
}

/** Why no task can be merged into a branch: it was moved or deleted, or the repository has no branch of that name. */
export async function targetTrouble(
  own: Workspaces,
  project: Project,
  target: string,
  store: Pick<Store, "listTasks">,
  asking?: Pick<Task, "id">,
): Promise<TargetTrouble | undefined> {
  const moved = await movedTarget(own, project, target, store);
  if (moved !== undefined) return movedTrouble(moved, asking);
  return (await movedAside(own, project, target)) ?? missingTrouble(own, project, target, store);
}

/** The trouble of a target that no checkout of the user's has, and that an agent in a worktree may have moved. */
export async function movedAside(
  { movedBranch }: Pick<ProjectWorkspaces, "movedBranch">,
  project: Project,
  target: string,
): Promise<TargetTrouble | undefined> {
  const moved = await movedBranch?.(target);
  return moved && movedBranchTrouble(project, moved);
}

/** The trouble of a repository that has no branch of that name. */
export async function missingTrouble(
  own: Pick<Workspaces, "git">,
  project: Project,
  target: string,
  store: Pick<Store, "listTasks">,
): Promise<TargetTrouble | undefined> {
  const found = await own.git.lookAtBranch(project.path, target);
  // In a repository without a commit it is the branch of the first commit to come.
  if (found === undefined || found.isThere || found.checkedOut === target) return undefined;
  const reason = `${project.path} has no branch "${target}", which work goes into.`;
  return { reason, fix: await otherTargetFix(own, project, target, store) };
}

/** What to do where the repository has no branch of that name. Never proposes the branch of a task. */
export async function otherTargetFix(
  { git }: Pick<Workspaces, "git">,
  project: Project,
  target: string,
  store: Pick<Store, "listTasks">,
): Promise<string> {
  if (target !== project.defaultBranch)
    return `Make it there: git -C ${shellWord(project.path)} branch ${shellWord(target)}`;
  const { checkedOut = "" } = (await git.lookAtBranch(project.path, target)) ?? {};
  const isOther = checkedOut !== "" && checkedOut !== target;
  const isTasks = isOther && (await taskWithBranch(store, project, checkedOut)) !== undefined;
  const name = isOther && !isTasks ? shellWord(checkedOut) : "NAME";
  return `Name another one: signalbox project update ${project.name} --default-branch ${name}`;
}

/** The newest task of a project, open or over, that has a branch. */
export async function taskWithBranch(
  store: Pick<Store, "listTasks">,
  project: Pick<Project, "name">,
  branch: string,
): Promise<Task | undefined> {
  return (await allTasks(store, { project: project.name })).find(({ task }) => task.branch === branch)?.task;
}

/** Whether a commit is in the target branch of a task only because that branch was moved without a merge. */
export async function isOnlyByMove(
  own: Workspaces & Pick<ProjectWorkspaces, "control">,
  project: Project,
  task: Pick<Task, "base">,
  commit: string,
): Promise<boolean> {
  const target = targetOf(project, task);
  const moved = (await movedTarget(own, project, target)) ?? (await own.movedBranch?.(target));
  if (moved === undefined) return false;
  // A commit that the control repository does not have was never merged.
  return !(await own.control.isAncestor(commit, moved.before).catch(isFault));
}

function isFault(error: unknown): false {
  if (error instanceof Fault) return false;
  throw error;
}

/** What a person reads about a moved branch. The person may have moved it, so this accuses nobody. */
export function movedBranchTrouble(project: Pick<Project, "name" | "path">, moved: MovedBranch): TargetTrouble {
  const { branch, before, after, way, isKnown, tasks, setAside } = moved;
  const [from, to] = [before.slice(0, 10), after.slice(0, 10)];
  const command = `signalbox project branches ${project.name}`;
  if (setAside !== undefined)
    return {
      reason: `"${branch}", the branch of the task ${tasks.join(" and ")}, was moved from ${from} to ${to} while the task had no workspace, and not by a merge of its parts. The branch was restored. The commits are not part of the task's work; Signalbox's own repository keeps them as ${setAside}.`,
      fix: `See them: git -C ${shellWord(project.path)} log ${from}..${to}\nTo report it no more: ${command} --accept ${shellWord(branch)}`,
    };
  const how = {
    forward: `was moved from ${from} to ${to} without a merge of Signalbox`,
    back: `was moved back from ${from} to ${to}`,
    apart: `was moved from ${from} to ${to}, which does not contain the commits that it had`,
    deleted: `was deleted. It was at ${from}`,
  };
  const who = isKnown
    ? ` That was done in the worktree of ${tasks.join(" and ")}, or the new commit was made there.`
    : " That was while agents worked in worktrees of the repository. Git does not record who did it; it may have been you.";
  const see = way === "deleted" ? "" : `See it: git -C ${shellWord(project.path)} log ${shellWord(branch)}\n`;
  return {
    reason: `Your branch "${branch}" ${how[way]}.${who}`,
    fix: `${see}Restore it: ${command} --restore ${shellWord(branch)}\nOr leave it as it is: ${command} --accept ${shellWord(branch)}`,
  };
}

/** The moved branch that a task's person is called for: each with one task, or with all in whose worktrees it was done. */
export async function movedBranchOf(
  store: Pick<Store, "getTask">,
  { movedBranches = [] }: Project,
  task: Pick<Task, "id">,
): Promise<MovedBranch | undefined> {
  for (const moved of movedBranches) {
    if (!moved.blocks || !moved.tasks.includes(task.id)) continue;
    if (moved.isKnown || (await firstOpen(store, moved.tasks)) === task.id) return moved;
  }
  return undefined;
}

/** What `explain` adds about moved branches for which nobody is called. */
export function notedBranches(project: Project | undefined, task: Pick<Task, "id">): readonly string[] {
  const noted = project?.movedBranches?.filter(({ blocks, tasks }) => !blocks && tasks.includes(task.id)) ?? [];
  return noted.map((moved) => {
    const { reason, fix } = movedBranchTrouble(project as Project, moved);
    return `${reason}${moved.setAside === undefined ? " Its commits are kept." : ""}\n${fix}`;
  });
}

async function firstOpen(store: Pick<Store, "getTask">, tasks: readonly string[]): Promise<string | undefined> {
  for (const id of tasks) {
    const stored = await store.getTask(id);
    if (stored?.isOpen === true && stored.task.workspace !== "") return id;
  }
  return undefined;
}
