import { sentences } from "../../engine/sentence.ts";
import { sha256 } from "../../engine/sha256.ts";
import type { Task } from "../../engine/task.ts";
import { type ControlRepository, taskRef } from "../../ports/control-repository.ts";
import type { Log } from "../../ports/log.ts";
import type { Project, Store } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import type { Turns } from "../turns.ts";
import { uuid8Of } from "../uuid8-of.ts";
import { allTasks } from "./all-tasks.ts";
import { otherTaskWith } from "./other-task-with.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "./project-workspaces.ts";
import { userBranches } from "./user-branches.ts";

export interface EndedBranchPorts {
  readonly store: Store;
  readonly log: Log;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
}

/** A branch of the user's repository that was made for a task, which is over. */
export interface EndedBranch {
  readonly task: Task;
  readonly commit: string;
  /** merged: goes by itself. contained: nothing would be lost. unmerged: it is the only place where something is. */
  readonly state: "merged" | "contained" | "unmerged";
  /** A sentence. */
  readonly reason: string;
}

/** Says that a branch was made for a task, where its name does not. A task can have had several branches. */
function madeRef({ id, branch }: Named): string {
  return `refs/signalbox/made/${id}/${sha256(branch).slice(0, 20)}`;
}

type Named = Pick<Task, "id" | "branch">;

/** Notes that a branch is made for the task, so that it may be deleted again. `commit` is any that stays. */
export async function noteOwnBranch(control: ControlRepository, task: Named, commit: string): Promise<void> {
  if (!(await isOwnBranch(control, task))) await control.moveRef(madeRef(task), commit, undefined);
}

/** Whether this branch was made for the task. What the user had before is never the task's, also while the task works on it. */
export async function isOwnBranch(control: ControlRepository, task: Named): Promise<boolean> {
  return isNamedAfter(task) || (await control.commitAt(madeRef(task))) !== undefined;
}

function isNamedAfter(task: Named): boolean {
  return task.branch.includes(task.id) || task.branch.includes(uuid8Of(task));
}

/** Branches of tasks that are over, or of one of them. What the user had before the task is not among them. */
export async function endedBranches(
  { store }: EndedBranchPorts,
  { control }: ProjectWorkspaces,
  project: Project,
  only?: Task,
): Promise<readonly EndedBranch[]> {
  const branches = await userBranches(control, project);
  if (only !== undefined && branches[only.branch] === undefined) return [];
  const open = (await allTasks(store, { project: project.name, isOpen: true })).map(({ task }) => task);
  const inUse = new Set([project.defaultBranch, ...open.flatMap((task) => [task.branch, targetOf(project, task)])]);
  const ended =
    only === undefined ? (await allTasks(store, { project: project.name, isOpen: false })).map(taskOf) : [only];
  const found: EndedBranch[] = [];
  for (const task of ended) {
    const commit = branches[task.branch];
    if (commit === undefined || inUse.has(task.branch)) continue;
    if (!(await isOwnBranch(control, task))) continue;
    // Of several tasks that had it, the newest comes first.
    inUse.add(task.branch);
    found.push({ task, commit, ...(await stateOf(store, control, project, task, commit, branches)) });
  }
  return found;
}

function taskOf({ task }: { readonly task: Task }): Task {
  return task;
}

async function stateOf(
  store: Store,
  control: ControlRepository,
  project: Project,
  task: Task,
  commit: string,
  branches: Readonly<Record<string, string>>,
): Promise<Pick<EndedBranch, "state" | "reason">> {
  const merge = await store.merges.get(task.id);
  const target = merge?.target ?? targetOf(project, task);
  const isMerged =
    merge?.state === "merged" ||
    merge?.state === "undone" ||
    (await store.pullRequests.get(task.id))?.state === "merged";
  const name = `${task.project}#${task.number}`;
  const tip = branches[target];
  if (tip !== undefined && (await control.isAncestor(commit, tip)))
    return isMerged
      ? { state: "merged", reason: `${name} is merged, and "${target}" has all of it.` }
      : { state: "contained", reason: `${name} is over, and "${target}" has all of it.` };
  const drop = `If you do not need it: git branch -D ${task.branch}`;
  if (isMerged)
    return { state: "unmerged", reason: `${name} is merged, but "${target}" has not all of this branch. ${drop}` };
  const count = tip === undefined ? 0 : await control.countCommits(tip, commit);
  const commits = count === 1 ? "1 commit is" : `${count} commits are`;
  const go = `To continue them: signalbox task create --from ${task.id}`;
  return { state: "unmerged", reason: sentences([`${name} is over, and ${commits} not in "${target}".`, go, drop]) };
}

/** Deletes a branch that loses nothing by it. Its commits stay known as the task's. Gives why it stays, or nothing. */
export async function deleteEndedBranch(
  { store, log, inTurn }: EndedBranchPorts,
  { control, kind }: ProjectWorkspaces,
  { task, commit, state }: EndedBranch,
): Promise<string | undefined> {
  if (state === "unmerged") return "It has commits that are nowhere else.";
  return inTurn(`branches ${task.project}`, async () => {
    const other = await otherTaskWith(store, task, task.branch);
    if (other !== undefined) return `${other.project}#${other.number} works on it.`;
    if ((await control.commitAt(taskRef(task.id))) === undefined)
      await control.moveRef(taskRef(task.id), commit, undefined);
    const done = await kind.deleteBranch(task.branch, commit);
    if (done.kind === "checked-out") return `It is checked out in ${done.folder}.`;
    if (done.kind === "deleted")
      log.info("The branch of a task was deleted", { task: task.id, branch: task.branch, commit });
    return undefined;
  });
}

/** Deletes the branches of merged tasks, or of one of them. Gives how many. */
export async function deleteMergedBranches(ports: EndedBranchPorts, project: Project, only?: Task): Promise<number> {
  const own = await ports.workspacesOf(project);
  let count = 0;
  for (const ended of await endedBranches(ports, own, project, only)) {
    if (ended.state !== "merged") continue;
    const why = await deleteEndedBranch(ports, own, ended);
    if (why === undefined) count += 1;
    else ports.log.info("The branch of a merged task stays", { task: ended.task.id, branch: ended.task.branch, why });
  }
  return count;
}
