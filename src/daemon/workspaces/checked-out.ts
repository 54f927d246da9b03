import { branchNameProblem } from "../../engine/branch-name.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { type ControlRepository, lacksCommit, taskRef } from "../../ports/control-repository.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import { isShared } from "../forge/push-task.ts";
import { isOwnBranch, noteOwnBranch } from "./ended-branches.ts";
import { otherTaskWith } from "./other-task-with.ts";

interface CheckedOutPorts {
  readonly store: Store;
  readonly project: Project;
  readonly control: ControlRepository;
  readonly kind: Pick<WorkspaceKind, "branchAt">;
  readonly workspace: Workspace;
}

type CollectOrder = Parameters<ControlRepository["collect"]>[0];

/**
 * Collects a branch of a task's workspace that is not the task's. It counts as the task's work, and the task may follow
 * there, where the task's branch got this name, or where it contains all of the task's branch; never where the branch was
 * there before the task had the workspace. Where it does not count, the task's own branch is collected, and the fault says
 * how to go back to it.
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
    // Of a branch that was renamed the maker is the same. What was there before an older version took the workspace, nobody knows.
    const isOwn = tip === undefined ? await isOwnBranch(control, task) : workspace.branches !== undefined;
    if (isOwn) await noteOwnBranch(control, { id, branch }, collected.commit);
    return collected;
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== lacksCommit) throw error;
    throw await otherBranch(control, task, order, tip, `It does not contain all of "${task.branch}".`);
  }
}

/** Why the task cannot have the branch, as a sentence. */
async function whyNot(
  { store, project, control, workspace }: CheckedOutPorts,
  task: Task,
  branch: string,
): Promise<string | undefined> {
  if (isShared(project, task, branch)) return "Work goes into that branch.";
  const other = await otherTaskWith(store, task, branch);
  if (other !== undefined) return `${other.project}#${other.number} (${other.id}) works on that branch.`;
  const isOld = workspace.branches?.includes(branch) === true;
  if (isOld && !(await isOwnBranch(control, { id: task.id, branch })))
    return "That branch was there before the task began.";
  return branchNameProblem(branch);
}

const otherBranchCode = "workspace.other-branch";

/** Whether a workspace has another branch checked out than its task's, whose commits are not the task's work. */
export function isOtherBranch(error: unknown): error is Fault {
  return error instanceof Fault && error.code === otherBranchCode;
}

async function otherBranch(
  control: ControlRepository,
  { branch: own, id }: Task,
  { folder, branch }: Pick<CollectOrder, "folder" | "branch">,
  tip: string | undefined,
  why: string,
  /** Whether commits made there are meant for the task, which they have to be taken to. */
  takesAlong = false,
): Promise<Fault> {
  const last = tip === undefined ? await control.commitAt(taskRef(id)) : undefined;
  const back = last === undefined ? `git -C ${folder} switch ${own}` : `git -C ${folder} switch -c ${own} ${last}`;
  const along = takesAlong ? `. To take commits along that were made here: git -C ${folder} merge ${branch}` : "";
  const message = `${folder} has the branch "${branch}" checked out, not the task's branch "${own}". ${why}`;
  return new Fault(otherBranchCode, message, { hint: `Go back to the task's branch: ${back}${along}` });
}
