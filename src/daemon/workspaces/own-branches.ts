import { branchNameProblem } from "../../engine/branch-name.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import { type ControlRepository, lacksCommit, taskRef } from "../../ports/control-repository.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Log } from "../../ports/system.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import { sha256 } from "../../sha256.ts";
import { sentences } from "../../text.ts";
import { placeNameOf } from "../landing-place.ts";
import { allTasks, isShared, targetOf, uuid8Of } from "../project.ts";
import { otherBranchCode } from "../task-work.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "./project-workspaces.ts";

interface EndedBranchPorts {
  readonly store: Store;
  readonly log: Log;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
}

/** A branch of the user's repository that was made for an ended task. */
interface EndedBranch {
  readonly task: Task;
  readonly commit: string;
  /** merged, contained: deleted automatically, nothing is lost. unmerged: only this branch has some commits. */
  readonly state: "merged" | "contained" | "unmerged";
  /** A sentence. */
  readonly reason: string;
}

/** The ref that marks a branch as made for a task whose id is not in its name. A task may have had several branches. */
function madeRef({ id, branch }: Named): string {
  return `refs/signalbox/made/${id}/${sha256(branch).slice(0, 20)}`;
}

type Named = Pick<Task, "id" | "branch">;

/** Marks a branch as made for the task, so that it may be deleted later. `commit` is any commit that stays reachable. */
export async function noteOwnBranch(control: ControlRepository, task: Named, commit: string): Promise<void> {
  if (!(await isOwnBranch(control, task))) await control.moveRef(madeRef(task), commit, undefined);
}

/** Whether this branch was made for the task. A branch that the user had before never is, even if the task works on it. */
export async function isOwnBranch(control: ControlRepository, task: Named): Promise<boolean> {
  return isNamedAfter(task) || (await control.commitAt(madeRef(task))) !== undefined;
}

function isNamedAfter(task: Named): boolean {
  return task.branch.includes(task.id) || task.branch.includes(uuid8Of(task));
}

/** Branches of ended tasks, or of `only` this one. Branches that the user had before the task are not among them. */
export async function endedBranches(
  { store }: Pick<EndedBranchPorts, "store">,
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
    // Tasks are listed newest first, so the branch counts for the newest task that had it.
    inUse.add(task.branch);
    found.push({ task, commit, ...(await stateOf(store, control, project, task, commit, branches)) });
  }
  return found;
}

/** A branch that a person has named, or that an ended task had, is the task's own unless the person had it before. */
export async function claimBranch(
  store: Store,
  own: ProjectWorkspaces,
  project: Project,
  identity: Pick<Task, "id" | "branch" | "ticket">,
  from: { readonly task: Task } | undefined,
  target: string,
): Promise<void> {
  if (identity.branch.includes(identity.id)) return;
  const { control } = own;
  const branches = await userBranches(control, project);
  // A task for a ticket continues what was done for it.
  const isNamed = from === undefined && (identity.ticket ?? "") === "" && branches[identity.branch] !== undefined;
  if (isNamed) await refuseUnmergedBranch(store, own, project, identity.branch);
  const tip = branches[target];
  const isInherited = from?.task.branch === identity.branch && (await isOwnBranch(control, from.task));
  if (tip !== undefined && (branches[identity.branch] === undefined || isInherited))
    await noteOwnBranch(control, identity, tip);
}

/** A new task would silently continue commits that were made for an ended task, and perhaps rejected. */
async function refuseUnmergedBranch(
  store: Store,
  own: ProjectWorkspaces,
  project: Project,
  branch: string,
): Promise<void> {
  const ended = await allTasks(store, { project: project.name, isOpen: false });
  const last = ended.find(({ task }) => task.branch === branch)?.task;
  const [found] = last === undefined ? [] : await endedBranches({ store }, own, project, last);
  if (found?.state === "unmerged")
    throw new Fault("task.invalid", `"${branch}" is the branch of an earlier task. ${found.reason}`);
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
  const { target, parent } = merge ?? (await placeNameOf(store, project, task));
  const isMerged =
    merge?.state === "merged" ||
    merge?.state === "undone" ||
    (await store.pullRequests.get(task.id))?.state === "merged";
  const name = `${task.project}#${task.number}`;
  const tip = parent === undefined ? branches[target] : await control.commitAt(taskRef(parent));
  if (tip !== undefined && (await control.isAncestor(commit, tip)))
    return isMerged
      ? { state: "merged", reason: `${name} is merged, and "${target}" contains all of it.` }
      : { state: "contained", reason: `${name} has ended, and "${target}" contains all of it.` };
  const drop = `If you do not need it: git branch -D ${task.branch}`;
  if (isMerged)
    return {
      state: "unmerged",
      reason: `${name} is merged, but "${target}" does not contain all of this branch. ${drop}`,
    };
  const count = tip === undefined ? 0 : await control.countCommits(tip, commit);
  const commits = count === 1 ? "1 commit is" : `${count} commits are`;
  const go = `To continue them: signalbox task create --from ${task.id}`;
  return { state: "unmerged", reason: sentences([`${name} has ended, and ${commits} not in "${target}".`, go, drop]) };
}

/** Deletes a branch without losing commits: a ref of the task keeps them. Returns why the branch is kept, or undefined. */
export async function deleteEndedBranch(
  { store, log, inTurn }: EndedBranchPorts,
  { control, kind }: ProjectWorkspaces,
  { task, commit, state }: EndedBranch,
): Promise<string | undefined> {
  if (state === "unmerged") return "No other branch has its commits.";
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

/** Deletes branches of ended tasks, or of `only` this one, without a commit of their own. Returns how many. */
export async function deleteSpentBranches(ports: EndedBranchPorts, project: Project, only?: Task): Promise<number> {
  const own = await ports.workspacesOf(project);
  let count = 0;
  for (const ended of await endedBranches(ports, own, project, only)) {
    // A task that was not merged may still have a workspace on that branch, with uncommitted files.
    if (ended.state === "unmerged" || (ended.state === "contained" && ended.task.workspace !== "")) continue;
    const why = await deleteEndedBranch(ports, own, ended);
    if (why === undefined) count += 1;
    else ports.log.info("The branch of an ended task stays", { task: ended.task.id, branch: ended.task.branch, why });
  }
  return count;
}

interface CheckedOutPorts {
  readonly store: Store;
  readonly project: Project;
  readonly control: ControlRepository;
  readonly kind: Pick<WorkspaceKind, "branchAt">;
  readonly workspace: Workspace;
}

type CollectOrder = Parameters<ControlRepository["collect"]>[0];

/**
 * Collects a branch of a task's workspace that is not the task's branch. It counts as the task's work if the task's branch was
 * renamed to it, or if it contains all of the task's branch; never if it existed before the task had the workspace. If it does
 * not count, the task's own branch is collected, and the fault says how to return to it.
 */
export async function collectOther(ports: CheckedOutPorts, task: Task, order: CollectOrder) {
  const { control, kind, workspace } = ports;
  const { folder, branch, task: id } = order;
  const tip = await kind.branchAt(folder, task.branch);
  if (tip !== undefined) await control.collect({ folder, branch: task.branch, task: id, seenAt: tip });
  const why = await whyNot(ports, task, branch);
  if (why !== undefined) throw await otherBranch(control, task, order, tip, why, isShared(ports.project, task, branch));
  try {
    const collected = await control.collect(tip === undefined ? order : { ...order, contains: tip });
    // A renamed branch has the same origin. Older versions did not record the branches that existed before.
    const isOwn = tip === undefined ? await isOwnBranch(control, task) : workspace.branches !== undefined;
    if (isOwn) await noteOwnBranch(control, { id, branch }, collected.commit);
    return collected;
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== lacksCommit) throw error;
    throw await otherBranch(control, task, order, tip, `It does not contain all of "${task.branch}".`);
  }
}

/** Why the task cannot use the branch, in a sentence. */
async function whyNot(
  { store, project, control, workspace }: CheckedOutPorts,
  task: Task,
  branch: string,
): Promise<string | undefined> {
  if (isShared(project, task, branch)) return "Work is merged into that branch.";
  const other = await otherTaskWith(store, task, branch);
  if (other !== undefined) return `${other.project}#${other.number} (${other.id}) works on that branch.`;
  const isOld = workspace.branches?.includes(branch) === true;
  if (isOld && !(await isOwnBranch(control, { id: task.id, branch })))
    return "That branch existed before the task began.";
  return branchNameProblem(branch);
}

async function otherBranch(
  control: ControlRepository,
  { branch: own, id }: Task,
  { folder, branch }: Pick<CollectOrder, "folder" | "branch">,
  tip: string | undefined,
  why: string,
  /** Whether commits made on that branch are the task's, and must be merged into its branch. */
  takesAlong = false,
): Promise<Fault> {
  const last = tip === undefined ? await control.commitAt(taskRef(id)) : undefined;
  const back = last === undefined ? `git -C ${folder} switch ${own}` : `git -C ${folder} switch -c ${own} ${last}`;
  const along = takesAlong
    ? `. Then merge the commits that were made on the other branch: git -C ${folder} merge ${branch}`
    : "";
  const message = `${folder} has the branch "${branch}" checked out, not the task's branch "${own}". ${why}`;
  return new Fault(otherBranchCode, message, { hint: `Go back to the task's branch: ${back}${along}` });
}

/** Another open task of the same project with this branch. */
export async function otherTaskWith(
  store: Store,
  { id, project }: Pick<Task, "id" | "project">,
  branch: string,
): Promise<Task | undefined> {
  const open = await allTasks(store, { project, isOpen: true });
  return open.find(({ task }) => task.branch === branch && task.id !== id)?.task;
}

/** The branches of the user's repository with their commits; none in a repository without a commit. */
export async function userBranches(
  control: ControlRepository,
  { path }: Pick<Project, "path">,
): Promise<Readonly<Record<string, string>>> {
  try {
    return (await control.syncFrom({ from: path, name: "user" })).branches;
  } catch (error) {
    if (error instanceof Fault && error.code === "git.no-commits") return {};
    throw error;
  }
}
