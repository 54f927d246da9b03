import { join } from "node:path";
import { fillText } from "../../engine/prompt.ts";
import type { Task } from "../../engine/task.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { Fault } from "../../fault.ts";
import type { Places } from "../../home/places.ts";
import type { Turns } from "../../keyed.ts";
import { beganRef, taskRef } from "../../ports/control-repository.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import type { AskModel } from "../agents/ask-model.ts";
import { publishAgents } from "../callers.ts";
import { placeAt, placeNameOf } from "../landing-place.ts";
import { otherTargetFix } from "../moved-target.ts";
import type { Perform, Performers } from "../perform.ts";
import { projectOf } from "../project.ts";
import type { Protection } from "../protection.ts";
import type { Submit } from "../submit.ts";
import { branchOfTask } from "../task-branch.ts";
import { keptWork } from "../task-work.ts";
import { whyUnusable } from "../workspaces/free-workspaces.ts";
import { type Parking, syncIdleAgents } from "../workspaces/parking.ts";
import {
  type BindPorts,
  bindWorkspace,
  leasePort,
  makeRoom,
  noTask,
  type PoolPorts,
  type PoolRoom,
  type ReleaseWorkspacesPorts,
  releaseWorkspaces,
  removeOtherKind,
} from "../workspaces/pool.ts";
import type { ProjectSettings, SettingsOf } from "../workspaces/project-settings.ts";
import { type ProjectWorkspaces, type WorkspacesOf, withoutPipes } from "../workspaces/project-workspaces.ts";
import { findRunners } from "../workspaces/runners.ts";
import { placeTaskFiles } from "../workspaces/task-files.ts";
import { isStuck, reportUnsaved, setAside, takeOut, unreadableWorkspace } from "../workspaces/unsaved-workspaces.ts";
import type { UpkeepLimits } from "../workspaces/upkeep.ts";
import { createBranch, deleteBranch, harvestUncommitted, nameBranch, syncRepo } from "./branch.ts";
import { type CommandPorts, runInWorkspace } from "./commands.ts";
import { type FurnishPorts, furnish, removePlanted } from "./furnishing.ts";

interface AcquirePorts extends BindPorts, PoolPorts, FurnishPorts {
  readonly store: Store;
  readonly log: Log;
  readonly submit: Submit;
  workflowOf(task: Task): Promise<Workflow>;
  readonly settingsOf: SettingsOf;
  readonly places: Places;
  readonly protection: Pick<Protection, "wordsOf">;
}

/**
 * Binds a workspace to the task, on the task's branch and with the task's file in it. Does nothing where it has all
 * that.
 */
export function acquireWorkspace(ports: AcquirePorts): Perform {
  return async ({ params }, { task, key }) => {
    const project = await projectOf(ports.store, task.project);
    // Checked before anything is created: a setup that may not run must not be started.
    const settings = ports.settingsOf(project);
    const workspaces = await ports.workspacesOf(project);
    await removeOtherKind(ports, workspaces, project);
    await makeRoom(ports, project, task.id);
    // A folder that cannot be emptied is replaced once; a new one would fail in the same way.
    const known = new Set((await ports.store.workspaces.list({ project: project.name })).map(({ id }) => id));
    const acquireOne = async (): Promise<string | undefined> => {
      const bound = await bindWhenFree(ports, workspaces.folder, task);
      if (bound === undefined) return undefined;
      const leased = await leasePort(ports, bound, settings.ports);
      const base = await baseOf(ports, workspaces, project, task, params.base);
      // The branches that existed before the agent: it may check them out later, but they are not its own.
      const workspace = { ...leased, branches: leased.branches ?? Object.keys(base.branches) };
      if (leased.branches === undefined) await ports.store.workspaces.put(workspace);
      await noteBeginning(workspaces.control, task, base.commit);
      const prepareIt = (it: Workspace) => prepare(ports, workspaces, project, settings, task, it, base, key);
      try {
        await prepareIt(workspace);
        return workspace.path;
      } catch (error) {
        const isOwn = task.workspace === workspace.path;
        const why = await whyUnusable(ports, workspaces, workspace.path, isOwn ? task.id : noTask, error);
        if (why === undefined) throw error;
        // Only a person may decide that the task goes on without what is in it.
        if (isOwn && params.replaces !== true) throw isStuck(error) ? error : unreadableWorkspace(task, why);
        if (isStuck(error) && !isOwn) {
          if (!known.delete(workspace.id)) throw error;
          await takeOut(ports, workspaces, workspace, why);
          return acquireOne();
        }
        await setAside(ports, workspaces, workspace, isOwn ? task.id : "", why);
        await prepareIt({ ...workspace, readyFor: "" });
        return workspace.path;
      }
    };
    const path = await acquireOne();
    if (path === undefined) return;
    await reportUnsaved(ports, project.name, task);
    const set = { workspace: path };
    const { stored } = await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set });
    await placeTaskFiles(ports.store, await ports.workflowOf(task), workspaces.kind, stored.task);
    await ports.publishAgents();
  };
}

/** Records where the task's work begins, once: agents can move their branches to any commit. */
async function noteBeginning(control: ProjectWorkspaces["control"], { id }: Task, commit: string): Promise<void> {
  if ((await control.commitAt(beganRef(id))) === undefined) await control.moveRef(beganRef(id), commit, undefined);
}

/** Waits while all workspaces are taken. Returns undefined where the task no longer wants one. */
async function bindWhenFree(ports: AcquirePorts, folder: string, task: Task): Promise<Workspace | undefined> {
  const { store, room } = ports;
  for (;;) {
    const project = await projectOf(store, task.project);
    try {
      return await ports.inTurn(branchOfTask(task.id), () => bindWorkspace(ports, project, folder, task));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "pool.full") throw error;
      if (!(await isWanted(store, task.id))) return undefined;
    }
    await room.wait(task.project, task.id);
  }
}

/** False for a task that was cancelled or moved meanwhile: if it releases its workspace later, it needs none before. */
async function isWanted(store: Store, task: string): Promise<boolean> {
  if ((await store.getTask(task)) === undefined) return false;
  const owed = (await store.openEffects(task)).map(({ effect }) => effect.action);
  const isAcquired = owed.indexOf("acquire_workspace");
  const isReleased = owed.indexOf("release_workspace", Math.max(0, isAcquired));
  return isReleased < 0;
}

interface Start {
  readonly commit: string;
  readonly branch: string;
  /** All branches of the user's repository. */
  readonly branches: Readonly<Record<string, string>>;
}

/** The commit that work starts from: that of the branch that it goes into, or of the branch that the workflow names. */
async function baseOf(
  { workflowOf, store }: AcquirePorts,
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  param: unknown,
): Promise<Start> {
  const { control, git } = own;
  const { branches } = await control.syncFrom({ from: project.path, name: "user" });
  const goal = await placeNameOf(store, project, task);
  const text = typeof param === "string" ? param : "";
  const filled = fillText(await workflowOf(task), task, text, { base: goal.target });
  const branch = (filled.ok ? filled.text.trim() : "") || goal.target;
  const place = branch === goal.target ? goal : { target: branch };
  const commit = await placeAt({ store, where: "here" }, own, project, place).start();
  if (commit !== undefined) return { commit, branch, branches };
  const isEmpty = Object.keys(branches).length === 0;
  throw new Fault("workspace.no-base", `${project.path} has no branch "${branch}" for the task to start from.`, {
    hint: isEmpty ? "Make a first commit there." : await otherTargetFix({ git }, project, branch, store),
  });
}

/** Saves whatever the last task left in the workspace before changing it. */
async function prepare(
  ports: AcquirePorts,
  own: ProjectWorkspaces,
  project: Project,
  settings: ProjectSettings,
  task: Task,
  workspace: Workspace,
  base: Start,
  key: string,
): Promise<void> {
  const { control, kind, repository } = own;
  const folder = workspace.path;
  const before = await withoutPipes(kind, folder, () => kind.inspect(folder));
  // A folder that the task does not have yet may still have a branch of this name that another task left.
  const isOwn = task.workspace === folder;
  const lastAt = before.kind === "there" && isOwn ? undefined : await bringBack(own, project, task, workspace);
  // A branch that was deleted by hand is restored; perhaps nothing else was wrong.
  const found = lastAt === undefined ? before : await kind.inspect(folder);
  const isMarked = workspace.readyFor === task.id;
  // The task has this workspace already: everything in it is this task's work.
  if (found.kind === "there" && isMarked && (found.branch === task.branch || isOwn)) return;
  await bringForward(ports, own, task, workspace, base, lastAt);
  const order = {
    ...{ folder, branch: task.branch, base: base.commit, baseBranch: base.branch, existing: true, isLeft: !isOwn },
    ...(lastAt === undefined ? {} : { lastAt }),
  };
  const save = async () => {
    const at = ports.clock.now();
    const order = { folder, task: task.id, at, anybodys: true, repository };
    const { saved, refused } = await withoutPipes(kind, folder, () => control.salvage(order));
    if (saved !== undefined) ports.log.warn("Work was found in a free workspace and saved", { folder, ref: saved.ref });
    return { salvaged: true, holds: refused.length > 0 };
  };
  // Recorded first, so that a crash after the folder is created does not make it look ready.
  if (isMarked) await ports.store.workspaces.put({ ...workspace, readyFor: "" });
  const isOther = found.kind === "there" && !found.parked && (!isOwn || found.branch !== task.branch);
  const isUnsaved = found.kind === "there" && (found.dirty || isOther);
  const left = isUnsaved ? await save() : { salvaged: false };
  const { keep } = settings;
  await withoutPipes(kind, folder, () => kind.prepare({ ...order, keep, ...left })).catch(async (error) => {
    // A broken or missing workspace was not inspected, and may still contain work.
    if (isUnsaved || !mayHoldWork(error)) throw error;
    return kind.prepare({ ...order, keep, ...(await save()) });
  });
  const words = () => ports.protection.wordsOf(task, base.commit);
  await removePlanted(own, workspace, settings, base.commit, await findRunners(folder, words));
  await furnish(ports, kind, settings, task, workspace, key);
  const { runners: _, ...rest } = workspace;
  const runners = settings.setup.length === 0 ? {} : { runners: await findRunners(folder, words) };
  await ports.store.workspaces.put({ ...rest, ...runners, readyFor: task.id });
}

/**
 * Collected work outlives its folder and its branch: recreates the branch at its last known commit. Returns that
 * commit; undefined where nothing was collected.
 */
async function bringBack(
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  workspace: Workspace,
): Promise<string | undefined> {
  const { control, repository } = own;
  if ((await control.commitAt(taskRef(task.id))) === undefined) return undefined;
  const commit = await keptWork(own, project, task);
  if (commit === undefined || workspace.kind !== "worktree") return commit;
  await control.restoreBranch({ repository, branch: task.branch, commit });
  return commit;
}

/**
 * In a worktree the task's branch is one of the user's repository. Brings what that lacks: the commit that the work starts
 * from, and parts that were merged into the task's collected work since the task had a workspace.
 */
async function bringForward(
  { signal }: AcquirePorts,
  { control, repository }: ProjectWorkspaces,
  { branch }: Task,
  { kind }: Workspace,
  { commit, branches }: Start,
  last: string | undefined,
): Promise<void> {
  if (kind !== "worktree") return;
  const tip = branches[branch];
  if (tip === undefined && last === undefined && !Object.values(branches).includes(commit))
    await control.giveCommit({ repository, commit });
  // A branch that a person has rewritten counts as it is.
  if (tip === undefined || last === undefined || tip === last || !(await control.isAncestor(tip, last))) return;
  const order = { repository, branch, commit: last, expected: tip };
  const result = await control.publish(signal === undefined ? order : { ...order, signal });
  if (result.kind === "published") return;
  const why = result.kind === "waits" ? result.text : `"${branch}" has moved just now.`;
  throw new Fault("workspace.branch-elsewhere", why, { retry: "later", hint: "The daemon tries again." });
}

function mayHoldWork(error: unknown): boolean {
  return error instanceof Fault && ["workspace.dirty", "workspace.unsaved"].includes(error.code);
}

/** What the effects on repositories need. */
interface GitEffectPorts extends CommandPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly places: Places;
  readonly submit: Submit;
  readonly inTurn: Turns;
  readonly workspacesOf: WorkspacesOf;
  readonly parking: Pick<Parking, "released" | "outdated">;
  readonly room: PoolRoom;
  endRuns(task: string): Promise<void>;
  endCommands(task: string, folders: readonly string[]): Promise<void>;
  readonly protection: Protection;
  readonly settingsOf: SettingsOf;
  limits(): UpkeepLimits;
  workflowOf(task: Task): Promise<Workflow>;
  tellPerson(task: Task, message: string, key: string): Promise<void>;
  readonly askModel: AskModel;
}

/** The effects that need git, except the merge. */
export function gitEffects(given: GitEffectPorts): Performers {
  const { store, places } = given;
  const ports = {
    ...given,
    publishAgents: () => publishAgents({ store, places }),
  };
  return {
    acquire_workspace: acquireWorkspace(ports),
    release_workspace: releaseWorkspace(ports),
    sync_idle_agents: syncIdleAgents(ports),
    sync_repo: syncRepo(ports),
    harvest_uncommitted: harvestUncommitted(ports),
    create_branch: createBranch(ports),
    name_branch: nameBranch(ports),
    delete_branch: deleteBranch(ports),
  };
}

interface ReleasePorts extends ReleaseWorkspacesPorts, CommandPorts {
  readonly log: Log;
  readonly places: Pick<Places, "logs">;
  readonly settingsOf: SettingsOf;
  readonly submit: Submit;
  publishAgents(): Promise<void>;
  tellPerson(task: Task, message: string, key: string): Promise<void>;
}

/**
 * Releases the task's workspace. Its content is saved first: commits on the task's branch, uncommitted files under a
 * ref. Does nothing where the task has no workspace.
 */
export function releaseWorkspace(ports: ReleasePorts): Perform {
  const { store, workspacesOf } = ports;
  return async (_, { task, key }) => {
    const project = await store.getProject(task.project);
    // Before the teardown too, which must not remove files under a working program.
    await ports.endRuns(task.id);
    for (const workspace of await store.workspaces.list({ task: task.id })) {
      if (workspace.kind === "folder" || project === undefined) continue;
      const { kind } = await workspacesOf(project);
      const found = await withoutPipes(kind, workspace.path, () => kind.inspect(workspace.path));
      if (found.kind === "there") await tearDown(ports, project, workspace, task, key);
    }
    await releaseWorkspaces(ports, task.id);
    await reportUnsaved(ports, task.project);
    if (project !== undefined) await removeOtherKind(ports, await workspacesOf(project), project);
    if (task.workspace !== "") {
      await ports.submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { workspace: "" } });
    }
    await ports.publishAgents();
  };
}

/** A failed teardown is only recorded: a workspace that is never released would be worse. */
async function tearDown(
  ports: ReleasePorts,
  project: Project,
  workspace: Workspace,
  task: Task,
  key: string,
): Promise<void> {
  try {
    const { teardown: argv, setupTimeout: timeout } = ports.settingsOf(project);
    if (argv.length === 0) return;
    const file = join(ports.places.logs, "teardown", `${task.id}.log`);
    await runInWorkspace(ports, { name: "teardown", argv, timeout, file }, workspace, task, key);
  } catch (error) {
    // A teardown that was killed because the daemon stops is run again after the start.
    if (ports.signal?.aborted) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    ports.log.warn("A workspace was released without its teardown", { task: task.id, reason });
    const note = {
      type: "effect.failed",
      by: "engine",
      data: { action: "release_workspace", reason },
      set: {},
    } as const;
    await ports.store.addEvents(task.id, [note], ports.clock.now());
  }
}
