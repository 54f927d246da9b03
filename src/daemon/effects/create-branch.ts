import { basename } from "node:path";
import { slug } from "../../engine/branch-name.ts";
import { fillText } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import { uuid8Of } from "../uuid8-of.ts";
import { isOwnBranch, noteOwnBranch } from "../workspaces/ended-branches.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { type MakeBranch, type RenamePorts, renameBranch } from "../workspaces/rename-branch.ts";

export interface CreateBranchPorts extends RenamePorts {
  workflowOf(task: Task): Promise<Workflow>;
}

/**
 * Gives the task's branch the name that the workflow says. With `from` it begins there, unless something has been
 * committed on it already. Without a workspace only the task knows the name, until it gets one.
 */
export function createBranch(ports: CreateBranchPorts): Perform {
  return async ({ params }, { task }) => {
    const project = await projectOf(ports.store, task.project);
    const parent = task.parent === "" ? undefined : (await ports.store.getTask(task.parent))?.task;
    const workflow = await ports.workflowOf(task);
    const outside = {
      base: targetOf(project, task),
      default_branch: project.defaultBranch,
      slug: slug(task.summary),
      uuid8: uuid8Of(task),
      agent_number: slotOf(task),
      ...(parent === undefined ? {} : { "parent.branch": parent.branch }),
    };
    const filled = (param: unknown) => {
      const built = fillText(workflow, task, typeof param === "string" ? param : "", outside);
      if (!built.ok) throw new Fault("branch.unfilled", `The branch has no name. ${built.problem}`);
      return built.text.trim();
    };
    const [name, from] = [filled(params.name), filled(params.from)];
    if (name === "") return;
    const make = from === "" || task.workspace === "" ? undefined : beginAt(project, task, parent, from);
    await renameBranch(ports, project, task, name, make);
  };
}

/** The pool's folders are numbered, and whoever works in one has its number. */
function slotOf({ workspace, number }: Task): string {
  const name = basename(workspace);
  return /^\d+$/.test(name) ? name : String(number);
}

/** Makes the branch anew at the end of another one, where nothing of its own would be left behind. */
function beginAt(project: Project, task: Task, parent: Task | undefined, from: string): MakeBranch {
  return async (workspaces, name) => {
    const { control, kind } = workspaces;
    const folder = task.workspace;
    const start = await startOf(workspaces, project, parent, from);
    const current = await kind.currentBranch(folder);
    const { commit } = await control.collect({ folder, branch: current ?? task.branch, task: task.id });
    if (commit === start || !(await control.isAncestor(commit, start))) return kind.renameBranch(folder, name);
    await kind.prepare({ folder, branch: name, base: start, baseBranch: from, existing: false, salvaged: false });
    await noteOwnBranch(control, { id: task.id, branch: name }, start);
    if (current !== undefined && (await isOwnBranch(control, { id: task.id, branch: current })))
      await kind.deleteBranch(current, commit);
  };
}

async function startOf(
  { control }: ProjectWorkspaces,
  { path }: Project,
  parent: Task | undefined,
  from: string,
): Promise<string> {
  const known = await control.commitAt(`refs/remotes/user/${from}`);
  const start = known ?? (parent?.branch === from ? await control.commitAt(taskRef(parent.id)) : undefined);
  if (start !== undefined) return start;
  throw new Fault("workspace.no-base", `${path} has no branch "${from}" for the task to start from.`, {
    hint: "Look what is there: git branch --all",
  });
}
