import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { actions } from "../../engine/actions.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { blockedWorkspace } from "../../ports/workspaces.ts";
import { missingTrouble, movedBranchOf, movedBranchTrouble, movedTarget, movedTrouble } from "../moved-target.ts";
import type { Perform, Performers } from "../perform.ts";
import { movedRepository, parentOf, targetOf } from "../project.ts";
import type { Submit } from "../submit.ts";
import { isOtherBranch, offBranch } from "../task-work.ts";
import type { PoolPorts } from "./pool.ts";
import type { ProjectWorkspaces, WorkspacesOf } from "./project-workspaces.ts";
import { taskFileTrouble } from "./task-files.ts";

export interface Trouble {
  /** A sentence. */
  readonly reason: string;
  readonly fix: string;
  /** The task can be merged all the same. */
  readonly allowsMerge?: boolean;
}

/**
 * What is wrong with a task's workspace or its project's repository; undefined if nothing is. Runs git only if another branch
 * than the task's is checked out, or if the user's checkout was left behind. `isMergedNext`: whether the task's work can be
 * merged from its present state.
 */
export async function workspaceTrouble(
  { store, workspacesOf }: { readonly store: Store; readonly workspacesOf: WorkspacesOf },
  task: Pick<Task, "id" | "project" | "workspace" | "branch" | "base" | "runs"> &
    Partial<Pick<Task, "parent" | "part">>,
  isMergedNext: () => Promise<boolean>,
): Promise<Trouble | undefined> {
  const { id, project: name, workspace, branch } = task;
  if (workspace === "") return undefined;
  const project = await store.getProject(name);
  if (project === undefined) return undefined;
  const moved = movedRepository(project);
  if (moved !== undefined) return { reason: moved.message, fix: moved.hint ?? "" };
  const fix = `Recreate it from the saved work: signalbox task respawn ${id}`;
  try {
    const workspaces = await workspacesOf(project);
    const flaw = await workspaces.kind.flawOf(workspace);
    if (flaw === undefined)
      return (
        (await taskFileTrouble(store, workspaces.kind, task)) ??
        (await targetsTrouble(store, workspaces, project, task, isMergedNext)) ??
        (await branchesTrouble(store, project, task)) ??
        (await otherBranch(workspaces, { id, workspace, branch }, isMergedNext))
      );
    const isGone = !existsSync(workspace);
    return {
      reason: isGone
        ? `The task's workspace ${workspace} is missing.`
        : `The task's workspace ${workspace} is broken. ${flaw}`,
      fix,
    };
  } catch (error) {
    // A temporary fault is not reported.
    if (!(error instanceof Fault) || error.retry !== "never") return undefined;
    if (error.code === blockedWorkspace)
      return { reason: `The task's workspace cannot be read: ${error.message}`, fix: error.hint ?? "" };
    return { reason: `The task's workspace ${workspace} cannot be used. ${error.message}`, fix };
  }
}

/**
 * The same with a timeout. While a check of a workspace hangs, no other check of it is started, so that hanging git processes
 * do not pile up.
 */
export function createTroubleOf(ask: (task: Task) => Promise<Trouble | undefined>, clock: Clock, limit: number) {
  const open = new Map<string, { readonly isLate: boolean }>();
  return async (task: Task): Promise<Trouble | undefined> => {
    const { workspace } = task;
    if (open.get(workspace)?.isLate) return late(workspace, limit);
    const question = { isLate: false };
    const answer = ask(task).finally(() => {
      if (open.get(workspace) === question) open.delete(workspace);
    });
    let cancel = () => {};
    const waited = new Promise<Trouble>((resolve) => {
      cancel = clock.after(limit, () => {
        question.isLate = true;
        open.set(workspace, question);
        resolve(late(workspace, limit));
      });
    });
    return Promise.race([answer, waited]).finally(cancel);
  };
}

function late(workspace: string, limit: number): Trouble {
  return {
    reason: `The task's workspace ${workspace} could not be checked within ${limit / 1000} s.`,
    fix: "Check whether its disk responds, and what git does there: signalbox doctor",
  };
}

/** Trouble with the target branch concerns a task that moved it, or whose work is merged next. */
async function targetsTrouble(
  store: Store,
  own: ProjectWorkspaces,
  project: Project,
  task: Pick<Task, "id" | "base"> & Partial<Pick<Task, "parent" | "part">>,
  isMergedNext: () => Promise<boolean>,
): Promise<Trouble | undefined> {
  // The branch of a parent is out of the agents' reach.
  if (parentOf(task) !== "") return undefined;
  const target = targetOf(project, task);
  const moved = await movedTarget(own, project, target, store);
  const isConcerned = moved?.tasks.some(({ id }) => id === task.id) || (await isMergedNext());
  if (!isConcerned) return undefined;
  return moved === undefined ? missingTrouble(own, project, target, store) : movedTrouble(moved, task);
}

async function branchesTrouble(
  store: Store,
  project: Project,
  task: Pick<Task, "id" | "base">,
): Promise<Trouble | undefined> {
  const moved = await movedBranchOf(store, project, task);
  if (moved === undefined) return undefined;
  return { ...movedBranchTrouble(project, moved), allowsMerge: moved.branch !== targetOf(project, task) };
}

async function otherBranch(
  workspaces: ProjectWorkspaces,
  task: Pick<Task, "id" | "workspace" | "branch">,
  isMergedNext: () => Promise<boolean>,
): Promise<Trouble | undefined> {
  const { kind, control } = workspaces;
  const { id, workspace } = task;
  const branch = await kind.currentBranch(workspace);
  if (branch === task.branch) return undefined;
  if (branch === undefined) return (await isMergedNext()) ? detached(workspaces, task) : undefined;
  const trouble = await control.collect({ folder: workspace, branch, task: id }).catch((error: unknown) => error);
  // The request that needs the collected work reports every other fault.
  return isOtherBranch(trouble) ? { reason: trouble.message, fix: trouble.hint ?? "" } : undefined;
}

/** A detached HEAD cannot be merged. `outside.ts` reports commits that no branch has. */
async function detached(
  workspaces: ProjectWorkspaces,
  task: Pick<Task, "id" | "workspace" | "branch">,
): Promise<Trouble | undefined> {
  const found = await workspaces.kind.inspect(task.workspace);
  if (found.kind !== "there" || found.branch !== undefined || found.operation !== undefined) return undefined;
  return offBranch(workspaces, task, found.head);
}

type MovedPorts = Pick<PoolPorts, "store" | "log" | "places" | "workspacesOf"> & { readonly submit: Submit };

/** After a start: if the home was moved, updates every stored path in it. */
export async function followHome(ports: MovedPorts): Promise<void> {
  const { store, log, places } = ports;
  for (const found of await store.listProjects()) {
    try {
      const project = await followRepository(ports, found);
      for (const workspace of await store.workspaces.list({ project: project.name })) {
        const path = join(places.workspaces, project.name, basename(workspace.path));
        if (workspace.kind === "folder" || workspace.path === path || existsSync(workspace.path)) continue;
        await followWorkspace(ports, project, workspace, path);
        log.info("A workspace was moved with its home", { from: workspace.path, path });
      }
    } catch (error) {
      log.warn("The moved workspaces of a project could not be updated", { project: found.name, error });
    }
  }
}

/** Reconnects a project's workspaces after a person has changed the path of its repository. */
export async function followProject({ store, workspacesOf }: MovedPorts, project: Project): Promise<void> {
  const { kindOf } = await workspacesOf(project);
  for (const { kind, path } of await store.workspaces.list({ project: project.name }))
    if (kind !== "folder") await (await kindOf(kind)).reconnect(path);
}

/** A repository that the daemon cloned is in the home, and moves with it. */
async function followRepository({ store, places }: MovedPorts, project: Project): Promise<Project> {
  const path = join(places.repositories, project.name);
  if (existsSync(project.path) || !existsSync(path)) return project;
  return store.updateProject(project.name, { path });
}

/** The workspace's record is written last, so that a crash before that repeats everything. */
async function followWorkspace(ports: MovedPorts, project: Project, workspace: Workspace, path: string): Promise<void> {
  const { store } = ports;
  const { kindOf } = await ports.workspacesOf(project);
  if (workspace.kind !== "folder") await (await kindOf(workspace.kind)).reconnect(path, workspace.path);
  for (const run of await store.runs.list({ task: workspace.task }))
    if (run.folder === workspace.path && run.endedAt === undefined) await store.runs.put({ ...run, folder: path });
  const task = (await store.getTask(workspace.task))?.task;
  if (task?.workspace === workspace.path)
    await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { workspace: path } });
  await store.workspaces.put({ ...workspace, path });
}

/** The workspace that is bound to a task. A task never works in another folder, least of all in the user's checkout. */
export async function boundFolder(store: Store, task: Task): Promise<string> {
  const folder = task.workspace;
  const isCheckout = (await store.getProject(task.project))?.path === folder;
  if (!isCheckout && (await isBound(store, task))) return folder;
  const name = `${task.project}#${task.number}`;
  throw new Fault("workspace.none", `${name} has no workspace, and agents never work in your own checkout.`, {
    hint: `Try again: signalbox task retry ${task.id}`,
  });
}

/**
 * Wraps performers that need a workspace: if the task has none, or it was deleted, acquires one first. The engine orders that
 * beforehand; this covers changes since then, and effects stored by earlier versions.
 */
export function performInWorkspace(
  store: Store,
  performers: Performers,
  isWhole: (task: Task) => Promise<boolean>,
): Performers {
  return Object.fromEntries(
    Object.entries(performers).map(([name, perform]) => {
      const where = actions[name]?.inWorkspace;
      return [name, where === undefined ? perform : acquiringFirst(perform, where === "always")];
    }),
  );

  function acquiringFirst(perform: Perform, isAlways: boolean): Perform {
    return async (effect, { task, key }) => {
      const isBoundNow = await isBound(store, task);
      if (isBoundNow ? !(await isWhole(task)) : isAlways)
        await performers.acquire_workspace?.({ action: "acquire_workspace", params: {} }, { task, key });
      const now = (await store.getTask(task.id))?.task ?? task;
      return perform(effect, { task: now, key });
    };
  }
}

async function isBound(store: Store, { id, workspace }: Task): Promise<boolean> {
  return workspace !== "" && (await store.workspaces.list({ task: id })).some(({ path }) => path === workspace);
}
