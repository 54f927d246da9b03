import { join } from "node:path";
import { fillText } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import { taskRef } from "../../ports/control-repository.ts";
import type { Log } from "../../ports/log.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import { targetOf } from "../base-of.ts";
import type { Perform } from "../perform.ts";
import { projectOf } from "../project-of.ts";
import type { Submit } from "../submit.ts";
import { type BindPorts, bindWorkspace } from "../workspaces/bind-workspace.ts";
import { keptWork } from "../workspaces/kept-work.ts";
import { leasePort } from "../workspaces/lease-port.ts";
import { makeRoom } from "../workspaces/make-room.ts";
import type { PoolPorts } from "../workspaces/pool-ports.ts";
import type { ProjectSettings, SettingsOf } from "../workspaces/project-settings.ts";
import type { ProjectWorkspaces } from "../workspaces/project-workspaces.ts";
import { removeOtherKind } from "../workspaces/remove-other-kind.ts";
import { placeTaskFiles } from "../workspaces/task-files.ts";
import { type CommandPorts, runInWorkspace } from "./run-in-workspace.ts";

export interface AcquirePorts extends BindPorts, PoolPorts, CommandPorts {
  readonly store: Store;
  readonly log: Log;
  readonly submit: Submit;
  workflowOf(task: Task): Promise<Workflow>;
  readonly settingsOf: SettingsOf;
  /** The command line must know where agents work. */
  publishAgents(): Promise<void>;
}

/** Binds a workspace to the task, on the task's branch and with the task's file in it. Nothing where it has all that. */
export function acquireWorkspace(ports: AcquirePorts): Perform {
  return async ({ params }, { task, key }) => {
    const project = await projectOf(ports.store, task.project);
    // Before anything is made: what may not run must not be begun.
    const settings = ports.settingsOf(project);
    const workspaces = await ports.workspacesOf(project);
    await removeOtherKind(ports, workspaces, project);
    await makeRoom(ports, project, task.id);
    const bound = await bindWhenFree(ports, workspaces.folder, task);
    if (bound === undefined) return;
    const leased = await leasePort(ports, bound, settings.ports);
    const { branches, ...base } = await baseOf(ports, workspaces, project, task, params.base);
    // Whatever the agent checks out later: these are not its own.
    const workspace = { ...leased, branches: leased.branches ?? branches };
    if (leased.branches === undefined) await ports.store.workspaces.put(workspace);
    await prepare(ports, workspaces, project, settings, task, workspace, base, key);
    const { stored } = await ports.submit(task.id, {
      kind: "edit",
      actor: { role: "engine" },
      set: { workspace: workspace.path },
    });
    await placeTaskFiles(ports.store, await ports.workflowOf(task), workspaces.kind, stored.task);
    await ports.publishAgents();
  };
}

/** Waits while all workspaces are taken. Undefined where the task does not want one any more. */
async function bindWhenFree(ports: AcquirePorts, folder: string, task: Task): Promise<Workspace | undefined> {
  const { store, room } = ports;
  for (;;) {
    const project = await projectOf(store, task.project);
    try {
      return await bindWorkspace(ports, project, folder, task);
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "pool.full") throw error;
      if (!(await isWanted(store, task.id))) return undefined;
    }
    await room.wait(task.project, task.id);
  }
}

/** A task that was cancelled or moved meanwhile gives its workspace back later on: then it needs none before that. */
async function isWanted(store: Store, task: string): Promise<boolean> {
  if ((await store.getTask(task)) === undefined) return false;
  const owed = (await store.openEffects(task)).map(({ effect }) => effect.action);
  const isAcquired = owed.indexOf("acquire_workspace");
  const isReleased = owed.indexOf("release_workspace", Math.max(0, isAcquired));
  return isReleased < 0;
}

/** The commit that work starts from: the default branch as the user has it now, or the branch that the workflow names. */
async function baseOf(
  { workflowOf }: AcquirePorts,
  { control }: ProjectWorkspaces,
  project: Project,
  task: Task,
  param: unknown,
): Promise<{ commit: string; branch: string; branches: readonly string[] }> {
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  const filled = fillText(await workflowOf(task), task, typeof param === "string" ? param : "", {
    base: targetOf(project, task),
  });
  const branch = (filled.ok ? filled.text.trim() : "") || targetOf(project, task);
  const commit = branches[branch];
  const known = Object.keys(branches);
  if (commit !== undefined) return { commit, branch, branches: known };
  throw new Fault("workspace.no-base", `${project.path} has no branch "${branch}" for the task to start from.`, {
    hint:
      known.length > 0
        ? `Name another one: signalbox project update ${project.name} --default-branch ${known[0]}`
        : "Make a first commit there.",
  });
}

/** What the last task left behind is saved before anything of it is touched. */
async function prepare(
  ports: AcquirePorts,
  own: ProjectWorkspaces,
  project: Project,
  settings: ProjectSettings,
  task: Task,
  workspace: Workspace,
  base: { commit: string; branch: string },
  key: string,
): Promise<void> {
  const { control, kind, repository } = own;
  const folder = workspace.path;
  const before = await kind.inspect(folder);
  const lastAt = before.kind === "there" ? undefined : await bringBack(own, project, task, workspace);
  // A branch that was deleted by hand is back: perhaps nothing else was wrong.
  const found = lastAt === undefined ? before : await kind.inspect(folder);
  const isMarked = workspace.readyFor === task.id;
  // It has its workspace already: whatever is in it is the work of this task.
  if (found.kind === "there" && isMarked && (found.branch === task.branch || task.workspace === folder)) return;
  const order = {
    ...{ folder, branch: task.branch, base: base.commit, baseBranch: base.branch, existing: true },
    ...(lastAt === undefined ? {} : { lastAt }),
  };
  const save = async () => {
    const at = ports.clock.now();
    const { saved, refused } = await control.salvage({ folder, task: task.id, at, anybodys: true, repository });
    if (saved !== undefined) ports.log.warn("Work was found in a free workspace and saved", { folder, ref: saved.ref });
    return { salvaged: true, holds: refused.length > 0 };
  };
  // Noted before, so that a crash after the folder is made does not hide that it is not ready.
  if (isMarked) await ports.store.workspaces.put({ ...workspace, readyFor: "" });
  const isLeft = found.kind === "there" && (found.dirty || (found.branch !== task.branch && !found.parked));
  const left = isLeft ? await save() : { salvaged: false };
  const { keep } = settings;
  await kind.prepare({ ...order, keep, ...left }).catch(async (error) => {
    // One that is broken or gone is not looked into before; there may be work in it all the same.
    if (isLeft || !isUnsaved(error)) throw error;
    return kind.prepare({ ...order, keep, ...(await save()) });
  });
  await furnish(ports, kind, settings, task, workspace, key);
  await ports.store.workspaces.put({ ...workspace, readyFor: task.id });
}

/**
 * Work that was collected outlives its folder and its branch: the branch is made again where it was last known to be.
 * Gives that commit; undefined where nothing was collected.
 */
async function bringBack(
  { control, repository }: ProjectWorkspaces,
  project: Project,
  task: Task,
  workspace: Workspace,
): Promise<string | undefined> {
  if ((await control.commitAt(taskRef(task.id))) === undefined) return undefined;
  const commit = await keptWork({ control }, project, task);
  if (commit === undefined || workspace.kind !== "worktree") return commit;
  await control.restoreBranch({ repository, branch: task.branch, commit });
  return commit;
}

/** Brings in what git does not, and runs the setup. After a crash all of it is done again. */
async function furnish(
  ports: AcquirePorts,
  kind: WorkspaceKind,
  { copy, link, setup, setupTimeout }: ProjectSettings,
  task: Task,
  workspace: Workspace,
  key: string,
): Promise<void> {
  const folder = workspace.path;
  if (copy.length > 0) await kind.copyFiles({ folder, patterns: copy, how: "copy" });
  if (link.length > 0) await kind.copyFiles({ folder, patterns: link, how: "link" });
  if (setup.length === 0) return;
  const file = join(ports.places.logs, "setup", `${task.id}.log`);
  await runInWorkspace(ports, { name: "setup", argv: setup, timeout: setupTimeout, file }, workspace, task, key);
}

function isUnsaved(error: unknown): boolean {
  return error instanceof Fault && ["workspace.dirty", "workspace.unsaved"].includes(error.code);
}
