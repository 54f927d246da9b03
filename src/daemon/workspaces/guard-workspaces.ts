import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import { Fault } from "../../fault.ts";
import type { Turns } from "../../keyed.ts";
import type { ControlRepository, Synced } from "../../ports/control-repository.ts";
import type { Git, Obeyed } from "../../ports/git.ts";
import { isCheckout } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { Clock, Log } from "../../ports/system.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import { shellWord } from "../../shell-quote.ts";
import { allTasks, movedRepository, remoteName } from "../project.ts";
import { createOwnMoves, noticeMoves, setForeignAside } from "./moved-branches.ts";
import { collectOther, isOwnBranch, noteOwnBranch } from "./own-branches.ts";
import { collectingFrom } from "./pool.ts";
import type { ForeignTip, KindName, ProjectWorkspaces, WorkspacesOf } from "./project-workspaces.ts";

/**
 * Refuses to run git if the repository's configuration, hooks or attributes have changed since a person last trusted them: an
 * agent can write there. Without an earlier record, the present settings are trusted. Where agents have only clones, a remote
 * on a network is the user's, and can make git run nothing.
 */
async function checkObeyed(store: Store, git: Git, name: string): Promise<void> {
  const project = await store.getProject(name);
  if (project === undefined) return;
  mustBeThere(project);
  const now = await git.obeyed(project.path);
  const { obeyed: before } = project;
  if (before?.fingerprint === now.fingerprint) return;
  const isApart = await isShareless(store, project);
  if (before !== undefined && !(isApart && before.isApart === true && areRemotes(before, now)))
    throw changed(project, before, now);
  await store.updateProject(name, { obeyed: { ...now, isApart } });
}

/** Whether no workspace of the project shares the `.git` of the user's repository, so that only the user changes it. */
export async function isShareless(store: Store, { name, workspaces }: Project): Promise<boolean> {
  if (workspaces !== "clone") return false;
  return !(await store.workspaces.list({ project: name })).some(({ kind }) => kind === "worktree");
}

/** Whether only remotes on a network were added, changed or removed. */
function areRemotes(before: Obeyed, now: Obeyed): boolean {
  return obeyedChanges(before, now).every(({ name, change }) =>
    ((change === "removed" ? before : now).remotes ?? []).includes(name),
  );
}

function mustBeThere(project: Project): void {
  const moved = movedRepository(project);
  if (moved !== undefined) throw moved;
}

/** A remote can be a folder on this machine, and that on a disk that is not mounted. Merges wait for it as for a server. */
function mustBeReachable({ name, path }: Project, address: string): void {
  const folder = address.replace(/^file:\/\/(?=\/)/, "");
  if (!isAbsolute(folder) || existsSync(folder)) return;
  const rename = `git -C ${shellWord(path)} remote set-url ${remoteName} ADDRESS`;
  throw new Fault("git.remote-unreachable", `The remote of ${name} cannot be reached: there is no folder ${folder}.`, {
    retry: "later",
    hint: `Bring it back, or name its new address: ${rename} && ${trustProjectCommand(name)}`,
  });
}

/** The command with which a person trusts the present settings. */
export function trustProjectCommand(project: string): string {
  return `signalbox project trust ${project}`;
}

interface ObeyedChange {
  /** A git setting, or a file below `.git`. */
  readonly name: string;
  readonly change: "added" | "changed" | "removed";
}

export function obeyedChanges(before: Obeyed, now: Obeyed): readonly ObeyedChange[] {
  const names = [...new Set([...Object.keys(before.parts), ...Object.keys(now.parts)])].sort();
  return names.flatMap((name): readonly ObeyedChange[] => {
    const [old, present] = [before.parts[name], now.parts[name]];
    if (old === present) return [];
    return [{ name, change: old === undefined ? "added" : present === undefined ? "removed" : "changed" }];
  });
}

function changed({ name, path }: Project, before: Obeyed, now: Obeyed): Fault {
  const all = obeyedChanges(before, now).map((each) => each.name);
  const shown = all.length <= maxShown ? all.join(", ") : `${all.slice(0, maxShown).join(", ")} and more`;
  return new Fault(
    "project.changed",
    `The configuration, hooks or attributes of ${path} have changed since you last trusted them: ${shown}.`,
    { hint: `Review the changes, and trust them: ${trustProjectCommand(name)}` },
  );
}

const maxShown = 5;

interface GuardPorts {
  readonly store: Store;
  readonly inTurn: Turns;
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  /** The control repository has this commit of a task's work. */
  collected?(task: string, commit: string): void;
}

/**
 * Wraps a project's workspaces. Refuses git in the user's repository, in its worktrees and at its remote while its settings are
 * untrusted. Uses each workspace's recorded kind, whatever the project's present kind is. Collects from a folder only the work
 * of the task that it is bound to. Records the user's branches that agents in worktrees move.
 */
export function guardWorkspaces(ports: GuardPorts, workspacesOf: WorkspacesOf): WorkspacesOf {
  const { store, inTurn } = ports;
  // The store's cache returns the same project object until it is changed.
  const guarded = new WeakMap<Project, ProjectWorkspaces>();
  const ownMoves = new Map<string, ReturnType<typeof createOwnMoves>>();
  return async (project) => {
    const before = guarded.get(project);
    if (before !== undefined) return before;
    const opened = await workspacesOf(project).catch((error) => {
      throw movedRepository(project) ?? error;
    });
    const check = () => checkObeyed(store, opened.git, project.name);
    const recordAt = async (folder: string) =>
      (await store.workspaces.list({ project: project.name })).find(({ path }) => path === folder);
    const kindAt = async (folder: string): Promise<KindName> => {
      const known = await recordAt(folder);
      return known === undefined || known.kind === "folder" ? project.workspaces : known.kind;
    };
    const own = ownMoves.get(project.name) ?? createOwnMoves();
    ownMoves.set(project.name, own);
    const users = { from: project.path, name: "user" } as const;
    const syncFrom: ControlRepository["syncFrom"] = async (order) => {
      if (order.from !== project.path) return opened.control.syncFrom(order);
      const forget = own.seen(order.only);
      const notice = (found: Synced) =>
        noticeMoves({ ...ports, ...opened, isOurs: own.includes }, project.name, { ...found, only: order.only });
      const synced = await opened.control.syncFrom({ ...order, noticed: notice });
      forget();
      return synced;
    };
    const publish: ControlRepository["publish"] = (order) =>
      own.during(order.branch, order.commit, () => opened.control.publish(order));
    const restoreBranch: ControlRepository["restoreBranch"] = (order) =>
      own.during(order.branch, order.commit, () => opened.control.restoreBranch(order));
    // Collecting takes time, in which the folder could be released and bound to another task. Hence the mutex.
    const collect: ControlRepository["collect"] = async (order) => {
      const collected = await collectFrom(order);
      ports.collected?.(order.task, collected.commit);
      return collected;
    };
    const collectFrom: ControlRepository["collect"] = (order) =>
      inTurn(collectingFrom(order.folder), async () => {
        const known = await recordAt(order.folder);
        if (known !== undefined && (known.task !== order.task || isCheckout(known))) throw releasedFault(order.folder);
        if (known?.kind === "worktree") await syncFrom(users).catch(noSync);
        const task = known && (await store.getTask(order.task))?.task;
        if (known === undefined || task === undefined || known.kind === "folder" || task.branch === order.branch)
          return opened.control.collect(order);
        const kind = await opened.kindOf(known.kind);
        return collectOther({ store, project, control: opened.control, kind, workspace: known }, task, order);
      });
    /** Requires that the checked-out branch counts as the task's. Returns the task's id and that branch. */
    const tasksBranch = async (folder: string) => {
      const known = await recordAt(folder);
      const task = known && (await store.getTask(known.task))?.task;
      const branch = await (await opened.kindOf(await kindAt(folder))).currentBranch(folder);
      if (task === undefined || branch === undefined) return undefined;
      if (branch !== task.branch) await collect({ folder, branch, task: task.id });
      return { id: task.id, branch };
    };
    const renamed = async (before: TasksBranch, to: string) => {
      if (before === undefined || !(await isOwnBranch(opened.control, before))) return;
      const commit = await opened.control.commitAt(`refs/remotes/user/${project.defaultBranch}`);
      if (commit !== undefined) await noteOwnBranch(opened.control, { id: before.id, branch: to }, commit);
    };
    const made = {
      ...opened,
      control: guardControl({ ...opened.control, collect, syncFrom, publish, restoreBranch }, project, check, kindAt),
      kind: guardKind(opened, check, kindAt, {
        ...{ tasksBranch, renamed },
        deleting: (branch, remove) => own.during(branch, undefined, remove),
      }),
      async isJoined(task: string) {
        if ((await store.getTask(task))?.isOpen !== true) return false;
        const folders = await store.workspaces.list({ project: project.name });
        const isShared = project.workspaces === "worktree" || folders.some(({ kind }) => kind === "worktree");
        return isShared && hasParts(store, task);
      },
      setAside: (foreign: ForeignTip) =>
        setForeignAside({ ...ports, control: { ...opened.control, restoreBranch } }, project, foreign),
      async movedBranch(branch: string) {
        const bound = (await store.workspaces.list({ project: project.name })).some(
          ({ kind, task }) => kind === "worktree" && task !== "",
        );
        if (bound) await syncFrom({ ...users, only: [branch] }).catch(noSync);
        return (await store.getProject(project.name))?.movedBranches?.find(
          (each) => each.branch === branch && each.blocks,
        );
      },
    };
    guarded.set(project, made);
    return made;
  };
}

async function hasParts(store: Store, parent: string): Promise<boolean> {
  return (await allTasks(store, { parent })).some(({ task }) => task.part !== undefined);
}

/** The request that needs the branches reports why they cannot be read. */
function noSync(error: unknown): undefined {
  if (error instanceof Fault) return undefined;
  throw error;
}

/** The code of the fault for a folder that is no longer the task's. */
const releasedCode = "workspace.given-back";

function releasedFault(folder: string): Fault {
  return new Fault(releasedCode, `${folder} was released just now.`, { retry: "later", hint: "Try again." });
}

export function isReleased(error: unknown): boolean {
  return error instanceof Fault && error.code === releasedCode;
}

type Check = () => Promise<void>;
type KindAt = (folder: string) => Promise<KindName>;
type TasksBranch = { readonly id: string; readonly branch: string } | undefined;

interface BranchGuard {
  tasksBranch(folder: string): Promise<TasksBranch>;
  renamed(before: TasksBranch, to: string): Promise<void>;
  /** Deletes a branch of the user's repository. */
  deleting<T>(branch: string, remove: () => Promise<T>): Promise<T>;
}

function guardControl(control: ControlRepository, project: Project, check: Check, kindAt: KindAt): ControlRepository {
  const checkFolder = async (folder: string) => {
    if ((await kindAt(folder)) === "worktree") await check();
  };
  /** The address is one of the repository's settings. Git runs the hooks of a remote that is a folder. */
  const checkRemote = async (address: string) => {
    mustBeReachable(project, address);
    await check();
  };
  return {
    ...control,
    async collect(order) {
      await checkFolder(order.folder);
      return control.collect(order);
    },
    async salvage(order) {
      await checkFolder(order.folder);
      return control.salvage(order);
    },
    async syncFrom(order) {
      if (order.from === project.path) mustBeThere(project);
      if (order.name === remoteName) await checkRemote(order.from);
      if (order.from === project.path && project.workspaces === "worktree") await check();
      return control.syncFrom(order);
    },
    async pushBranch(order) {
      await checkRemote(order.remote);
      return control.pushBranch(order);
    },
    async deleteRemoteBranch(order) {
      await checkRemote(order.remote);
      return control.deleteRemoteBranch(order);
    },
    async inTheWay(order) {
      await check();
      return control.inTheWay(order);
    },
    undoUpdate: (order) => control.undoUpdate({ ...order, check }),
    async restoreBranch(order) {
      await check();
      return control.restoreBranch(order);
    },
    async publish(order) {
      await check();
      return control.publish(order);
    },
    async giveCommit(order) {
      await check();
      return control.giveCommit(order);
    },
  };
}

function guardKind(
  { kind, kindOf }: ProjectWorkspaces,
  check: Check,
  kindAt: KindAt,
  { tasksBranch, renamed, deleting }: BranchGuard,
): WorkspaceKind {
  const at = async (folder: string) => {
    const name = await kindAt(folder);
    if (name === "worktree") await check();
    return kindOf(name);
  };
  return {
    kind: kind.kind,
    prepare: async (order) => (await at(order.folder)).prepare(order),
    park: async (order) => (await at(order.folder)).park(order),
    inspect: async (folder) => (await at(folder)).inspect(folder),
    flawOf: async (folder) => (await kindOf(await kindAt(folder))).flawOf(folder),
    mendHead: async (order) => (await at(order.folder)).mendHead(order),
    reconnect: async (folder, from) => (await kindOf(await kindAt(from ?? folder))).reconnect(folder, from),
    currentBranch: async (folder) => (await kindOf(await kindAt(folder))).currentBranch(folder),
    branchAt: async (folder, branch) => (await kindOf(await kindAt(folder))).branchAt(folder, branch),
    async renameBranch(folder, to) {
      const before = await tasksBranch(folder);
      await (await at(folder)).renameBranch(folder, to);
      await renamed(before, to);
    },
    forwardBranch: async (folder, commit) => (await at(folder)).forwardBranch(folder, commit),
    learnBranch: async (folder, branch, commit) => (await at(folder)).learnBranch(folder, branch, commit),
    switchBranch: async (folder, to) => (await at(folder)).switchBranch(folder, to),
    async commitAll(order) {
      await tasksBranch(order.folder);
      return (await at(order.folder)).commitAll(order);
    },
    uncommittedPaths: async (folder, keep) => (await at(folder)).uncommittedPaths(folder, keep),
    diffUncommitted: async (folder, most, only) => (await at(folder)).diffUncommitted(folder, most, only),
    async deleteBranch(branch, commit) {
      await check();
      // The branch is in the user's repository, whatever kind the workspaces are.
      const kind = await kindOf("worktree");
      return deleting(branch, () => kind.deleteBranch(branch, commit));
    },
    remove: async (folder, salvage) => (await at(folder)).remove(folder, salvage),
    copyFiles: async (order) => (await at(order.folder)).copyFiles(order),
    taskFileName: async (folder) => (await at(folder)).taskFileName(folder),
    placeTaskFile: async (folder, ...rest) => (await at(folder)).placeTaskFile(folder, ...rest),
    placeDocument: async (folder, ...rest) => (await at(folder)).placeDocument(folder, ...rest),
    readTaskFile: async (folder, name) => (await at(folder)).readTaskFile(folder, name),
    isTaskFileTracked: async (folder, name) => (await at(folder)).isTaskFileTracked(folder, name),
    deletePipes: async (folder) => (await kindOf(await kindAt(folder))).deletePipes(folder),
    // None of these runs git.
    deleteTrash: (order) => kind.deleteTrash(order),
    diskUse: (folder, most) => kind.diskUse(folder, most),
    removeExclude: () => kind.removeExclude(),
  };
}
