import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project, Store } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import { remoteName } from "../remote-of.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";
import type { ForgeOf } from "./project-forge.ts";
import { taskCommit } from "./task-commit.ts";

export interface PushPorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  readonly forgeOf: ForgeOf;
}

export interface TaskWork {
  readonly branch: string;
  readonly commit: string;
}

/** What is to be pushed: the task's work, and the branch that it has on the remote. */
export async function workOf(ports: PushPorts, project: Project, task: Task): Promise<TaskWork> {
  const record = await ports.store.pullRequests.get(task.id);
  // A task whose branch got another name goes on with the pull request that it has.
  const branch = record?.state === "open" && record.url !== "" ? record.head : task.branch;
  if (isShared(project, task, branch)) {
    throw new Fault(
      "push.default-branch",
      `"${branch}" is ${branch === project.defaultBranch ? "the default branch" : "the base"} of ${project.name}, not the task's own.`,
      {
        hint: `Give the task a branch of its own: signalbox task update ${task.id} --branch NAME`,
      },
    );
  }
  const commit = await taskCommit(await ports.workspacesOf(project), project, task);
  if (commit !== undefined) return { branch, commit };
  throw new Fault("push.no-work", `The task has no commit yet, and ${project.path} has no branch "${branch}".`, {
    hint: "Commit something on the task's branch first.",
  });
}

/**
 * Brings the task's work to the remote. Nothing where the project has none, and nothing that others have pushed is ever
 * overwritten.
 */
export async function pushWork(
  ports: PushPorts,
  project: Project,
  task: Task,
  { branch, commit }: TaskWork,
): Promise<void> {
  const { remote } = await ports.forgeOf(project);
  if (remote === undefined) return;
  const { control } = await ports.workspacesOf(project);
  const [before, begun] = await Promise.all([
    control.commitAt(pushedRef(task.id)),
    control.commitAt(begunRef(task.id)),
  ]);
  // Written down before and after: whoever was killed in between finds its own push again.
  await control.moveRef(begunRef(task.id), commit, begun);
  const push = (expected: string | undefined) => control.pushBranch({ remote, branch, commit, expected, isOwn: true });
  await push(before).catch(async (error) => {
    if (!(error instanceof Fault) || error.code !== "git.ref-moved") throw error;
    const { branches } = await control.syncFrom({ from: remote, name: remoteName });
    const at = branches[branch];
    if (at !== undefined && at !== begun && !(await isOurs(control, at, commit, before))) throw foreign(branch, task);
    await push(at);
  });
  await control.moveRef(pushedRef(task.id), commit, before);
}

/** Whether a branch is one that others work with too. */
export function isShared(project: Project, task: Pick<Task, "base">, branch: string): boolean {
  return branch === project.defaultBranch || branch === targetOf(project, task);
}

/** The commit of the task that was last pushed. */
export function pushedRef(task: string): string {
  return `refs/signalbox/pushed/${task}`;
}

function begunRef(task: string): string {
  return `refs/signalbox/pushing/${task}`;
}

async function isOurs(control: ControlRepository, at: string, commit: string, before: string | undefined) {
  return at === before || control.isAncestor(at, commit);
}

function foreign(branch: string, { id }: Task): Fault {
  return new Fault("push.foreign", `Somebody else has pushed to "${branch}", so it is left as it is.`, {
    hint: `Merge what is there into the task's branch (git fetch ${remoteName} ${branch}), then: signalbox task retry ${id}`,
  });
}
