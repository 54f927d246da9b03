import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Config } from "../../home/config-fields.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Forge } from "../../ports/forge.ts";
import type { Git } from "../../ports/git.ts";
import type { Project, Store } from "../../ports/store.ts";
import { isShared, remoteName, remoteOf } from "../project.ts";
import { taskCommit } from "../task-work.ts";
import type { WorkspacesOf } from "../workspaces/project-workspaces.ts";
import { leftOut } from "./left-out.ts";

/** Where a project's branches are pushed, and where they become pull requests. */
export interface ProjectForge {
  /** none: pull requests are only recorded by the daemon. */
  readonly kind: "github" | "none";
  readonly forge: Forge;
  /** The address of the remote; undefined where the project has none. */
  readonly remote: string | undefined;
}

export type ForgeOf = (project: Project) => Promise<ProjectForge>;

interface ForgesPorts {
  readonly git: Pick<Git, "remoteUrl">;
  /** Read every time, because the configuration may have changed. */
  choice(): Config["forge"];
  /** Undefined where the address is not a GitHub repository that the user's credentials can access. */
  github(address: string): Promise<Forge | undefined>;
  none(project: Project): Forge;
}

/** Finds the forge of a project. The remote is read every time, because it may have changed. */
export function createForges({ git, choice, github, none }: ForgesPorts): ForgeOf {
  const local = new Map<string, Forge>();
  const noneOf = (project: Project) => {
    const forge = local.get(project.name) ?? none(project);
    // One for each project, because it numbers its pull requests.
    local.set(project.name, forge);
    return forge;
  };
  return async (project) => {
    const remote = await remoteOf(git, project);
    const chosen = choice();
    const forge = chosen === "none" || remote === undefined ? undefined : await github(remote);
    if (forge !== undefined) return { kind: "github", forge, remote };
    if (chosen !== "github" || remote === undefined) return { kind: "none", forge: noneOf(project), remote };
    throw new Fault(
      "forge.unavailable",
      `The remote "${remoteName}" of ${project.path} is not a GitHub repository that Signalbox can access.`,
      {
        hint: "Log in with gh auth login, or name the token's variable: signalbox config set forge_token_env NAME",
      },
    );
  };
}

export interface PushPorts {
  readonly store: Store;
  readonly workspacesOf: WorkspacesOf;
  readonly forgeOf: ForgeOf;
}

export interface TaskWork {
  readonly branch: string;
  readonly commit: string;
}

/** The commit to push, and the name of its branch on the remote. */
export async function pushableWork(ports: PushPorts, project: Project, task: Task): Promise<TaskWork> {
  const record = await ports.store.pullRequests.get(task.id);
  // A task whose branch was renamed keeps the pull request that it has.
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

/** Pushes the task's work to the remote, or makes its branch in the user's repository. Never overwrites commits of others. */
export async function pushWork(
  ports: PushPorts,
  project: Project,
  task: Task,
  { branch, commit }: TaskWork,
): Promise<void> {
  const { remote } = await ports.forgeOf(project);
  if (remote === undefined) return makeLocally(ports, project, task, { branch, commit });
  const { control } = await ports.workspacesOf(project);
  const [before, begun] = await Promise.all([
    control.commitAt(pushedRef(task.id)),
    control.commitAt(begunRef(task.id)),
  ]);
  // Recorded before and after, so that a daemon that was killed in between recognises its own push.
  await control.moveRef(begunRef(task.id), commit, begun);
  const push = (expected: string | undefined) => control.pushBranch({ remote, branch, commit, expected, isOwn: true });
  const isMerged = await push(before).catch(async (error) => {
    if (!(error instanceof Fault) || error.code !== "git.ref-moved") throw error;
    const { branches } = await control.syncFrom({ from: remote, name: remoteName });
    // Somebody has moved or deleted the branch, perhaps because its pull request was merged: then there is nothing to push.
    if (await isMergedWhole(ports, project, task)) return true;
    const at = branches[branch];
    if (at !== undefined && at !== begun && !(await isOurs(control, at, commit, before))) throw foreign(branch, task);
    await push(at);
    return false;
  });
  if (isMerged !== true) await control.moveRef(pushedRef(task.id), commit, before);
}

/** Whether the task's pull request was merged with all of its work. */
async function isMergedWhole(ports: PushPorts, project: Project, task: Task): Promise<boolean> {
  const { kind, forge, remote } = await ports.forgeOf(project);
  const record = await ports.store.pullRequests.get(task.id);
  if (kind === "none" || record === undefined || record.url === "") return false;
  const found = await forge.getPullRequest(record.number);
  return found.state === "merged" && (await leftOut(ports, remote, project, task, found)) === undefined;
}

/** Without a remote, the user finds the branch in their repository: that of a clone is not there otherwise. */
async function makeLocally(
  { workspacesOf }: PushPorts,
  project: Project,
  task: Task,
  { branch, commit }: TaskWork,
): Promise<void> {
  const { control } = await workspacesOf(project);
  const here = (await control.syncFrom({ from: project.path, name: "user" })).branches[branch];
  if (here !== undefined && (await control.isAncestor(commit, here))) return;
  if (here !== undefined && !(await control.isAncestor(here, commit)))
    throw new Fault("push.diverged", `Your branch "${branch}" has commits that the task's work lacks.`, {
      hint: `Get the work under another name: signalbox task fetch ${task.id} --as NAME`,
    });
  const result = await control.publish({ repository: project.path, branch, commit, expected: here });
  if (result.kind === "moved") throw new Fault("push.moved", `"${branch}" has just moved.`, { retry: "later" });
  if (result.kind === "waits") throw new Fault("push.in-the-way", result.text, { retry: "later" });
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
  return new Fault("push.foreign", `Somebody else has pushed to "${branch}", so Signalbox does not overwrite it.`, {
    hint: `Merge the remote's commits into the task's branch (git fetch ${remoteName} ${branch}), then: signalbox task retry ${id}`,
  });
}
