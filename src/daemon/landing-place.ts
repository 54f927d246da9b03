import type { Task } from "../engine/task.ts";
import { Fault, tell } from "../fault.ts";
import type { Turns } from "../keyed.ts";
import type { ControlRepository, PublishOrder, Waits } from "../ports/control-repository.ts";
import type { Pushed } from "../ports/records.ts";
import type { Project, Store } from "../ports/store.ts";
import type { Landing, Waiting } from "./merging/merge-queue.ts";
import { expectedPush, notePush } from "./merging/pushes.ts";
import {
  isOnlyByMove,
  movedAside,
  movedTarget,
  movedTrouble,
  type TargetTrouble,
  targetTrouble,
} from "./moved-target.ts";
import { parentOf, remoteName, remoteOf, targetOf } from "./project.ts";
import { taskBranch } from "./task-branch.ts";
import type { ProjectWorkspaces } from "./workspaces/project-workspaces.ts";

/** A branch that work starts from and is merged into: one of the user's, or that of a parent task. */
export interface LandingPlace {
  readonly branch: string;
  /** The task whose branch it is; undefined for a branch of the user's. */
  readonly parent: string | undefined;
  /** The last known commit. Fetches nothing. */
  lastSeen(): Promise<string | undefined>;
  /** The last known commit that new work starts from, and that a task's own commits are counted from. Fetches nothing. */
  start(): Promise<string | undefined>;
  /** Fetches the branch. */
  find(): Promise<Tips>;
  /** Why nothing can be merged there now; undefined where it can. */
  trouble(asking: Pick<Task, "id">): Promise<TargetTrouble | undefined>;
  /** Whether the remote's branch had a commit when it was last fetched, where merges go to both. */
  isOnRemote(commit: string): Promise<boolean>;
  /** Whether the branch has a commit only because it was moved there without a merge. */
  isOnlyByMove(commit: string): Promise<boolean>;
  /** What `publish` would wait for, as far as that is known beforehand. */
  inTheWay(ports: PublishPorts, tips: Tips, commit: string): Promise<Waiting | undefined>;
  /** Moves the branch from the commits that were found to a commit that contains them; atomic. */
  publish(ports: PublishPorts, tips: Tips, commit: string): Promise<Publishing>;
  /** What publishing would push, as far as it is known without asking the remote. `user`: the user's commit of the branch. */
  expectedPush(where: Where, user: string): Promise<Pushed | undefined>;
  /** Undoes what an interrupted `publish` has begun. Returns what could not be undone, or an empty text. */
  undoBegun(): Promise<string>;
  /** Makes the branch available in a task's workspace, and returns the command that merges it there. */
  bringTo(task: Pick<Task, "id" | "workspace">): Promise<string>;
}

export interface PublishPorts {
  readonly where: Where;
  /** The folder of all workspaces; branches that are checked out there are not updated. */
  readonly workspaces: string;
  readonly signal: AbortSignal;
  readonly inTurn: Turns;
  /** Called when the remote's branch has got the commit, before the user's branch follows. */
  pushed?(): Promise<void>;
}

export type Publishing =
  /** Verified: the branch contains the commit. */
  | { readonly kind: "published"; readonly pushed?: Pushed }
  /** The branch has moved meanwhile. */
  | { readonly kind: "moved" }
  | Waiting
  | (Landing & { readonly kind: "refused" });

/** Identifies a landing place in records: the name of a branch, and the task whose branch it is. */
export interface PlaceName {
  readonly target: string;
  readonly parent?: string | undefined;
}

interface PlacePorts {
  readonly store: Pick<Store, "getTask" | "getWorkflow" | "listTasks" | "workspaces">;
  readonly where: Where;
}

/** The place that a task's work goes into. */
export async function placeOf(
  ports: PlacePorts,
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
): Promise<LandingPlace> {
  return placeAt(ports, own, project, await placeNameOf(ports.store, project, task));
}

export async function placeNameOf(store: Pick<Store, "getTask">, project: Project, task: Task): Promise<PlaceName> {
  const target = targetOf(project, task);
  const parent = parentOf(task);
  if (parent === "") return { target };
  return { target: (await store.getTask(parent))?.task.branch || target, parent };
}

/** The place that a record names. */
export function placeAt(
  ports: PlacePorts,
  own: ProjectWorkspaces,
  project: Project,
  { target, parent }: PlaceName,
): LandingPlace {
  const { store, where } = ports;
  if (parent === undefined) return userBranch(store, own, project, target, where);
  const startOf = async (task: Task) => (await placeOf(ports, own, project, task)).start();
  return taskBranch(store, own, project, { branch: target, parent, startOf });
}

/** A branch of the user's repository, and of its remote where that counts. */
export function userBranch(
  store: Pick<Store, "listTasks" | "workspaces">,
  own: ProjectWorkspaces,
  project: Project,
  branch: string,
  where: Where,
): LandingPlace {
  const { control, kind } = own;
  return {
    branch,
    parent: undefined,
    lastSeen: () => lastSeen(control, branch, where),
    start: () => startOf(control, branch, where),
    find: () => findTips(own, project, branch, where),
    trouble: (asking) => targetTrouble(own, project, branch, store, asking),
    async isOnRemote(commit) {
      const there = where === "both" ? await control.commitAt(`refs/remotes/${remoteName}/${branch}`) : undefined;
      return there !== undefined && (await control.isAncestor(commit, there));
    },
    isOnlyByMove: (commit) => isOnlyByMove(own, project, { base: branch }, commit),
    async inTheWay({ workspaces }, { user }, commit) {
      // The user's checkout must follow, unless the remote's branch is authoritative.
      if (where === "remote" || commit === user) return undefined;
      const order = { repository: project.path, branch, commit, expected: user, workspaces };
      const waits = await control.inTheWay(order);
      return waits && toWaiting(waits);
    },
    publish: (ports, tips, commit) => publishCommit(ports, own, project, branch, tips, commit),
    expectedPush: (how, user) => expectedPush(own, project, branch, how, user),
    undoBegun: () => control.undoUpdate({ repository: project.path, branch }),
    async bringTo({ id, workspace }) {
      const { base, user } = await findTips(own, project, branch, where);
      await kind.learnBranch(workspace, branch, base);
      const bound = await store.workspaces.list({ task: id });
      const isClone = bound.some((each) => each.path === workspace && each.kind === "clone");
      // A worktree sees the user's branches, but the remote's branch has more commits.
      return isClone || base === user ? `git merge ${branch}` : `git pull --no-rebase ${remoteName} ${branch}`;
    },
  };
}

/**
 * Where work is merged: into the user's branch only, into the remote's too, or into the remote's, which the user's then
 * follows.
 */
export type Where = "here" | "both" | "remote";

/** The commits of a branch in the user's repository and on the remote. */
export interface Tips {
  /** In the user's repository. */
  readonly user: string;
  /** Undefined where nothing is pushed. */
  readonly remote: { readonly address: string; readonly at: string | undefined } | undefined;
  /** The commit that contains the other; `apart` where they have diverged. */
  readonly base: string;
  readonly apart: boolean;
}

/** The last known commit of the branch that work is merged into. */
export async function lastSeen(control: ControlRepository, branch: string, where: Where): Promise<string | undefined> {
  const there = where === "remote" ? await control.commitAt(`refs/remotes/${remoteName}/${branch}`) : undefined;
  return there ?? control.commitAt(`refs/remotes/user/${branch}`);
}

/**
 * The last known commit that work starts from: the remote's, where that was fetched and is ahead of the user's. A person who
 * has not pulled yet gets work that builds on what others have pushed.
 */
async function startOf(control: ControlRepository, branch: string, where: Where): Promise<string | undefined> {
  const [user, remote] = await Promise.all([
    control.commitAt(`refs/remotes/user/${branch}`),
    control.commitAt(`refs/remotes/${remoteName}/${branch}`),
  ]);
  if (where === "remote" || user === undefined || remote === undefined) return lastSeen(control, branch, where);
  return (await control.isAncestor(user, remote)) ? remote : user;
}

/** Fetches a branch from the project's remote; undefined where the project has none, or the remote has no such branch. */
export async function remoteTip(
  { control, git }: ProjectWorkspaces,
  project: Project,
  branch: string,
): Promise<string | undefined> {
  const address = await remoteOf(git, project);
  return address && (await control.syncFrom({ from: address, name: remoteName })).branches[branch];
}

/**
 * Fetches the user's branch and, where there is a remote that counts, the remote's. Refuses a branch that was moved without
 * a merge.
 */
export async function findTips(own: ProjectWorkspaces, project: Project, target: string, where: Where): Promise<Tips> {
  const { control, git } = own;
  const moved = await movedTarget(own, project, target);
  if (moved !== undefined) {
    const { reason, fix } = movedTrouble(moved);
    throw new Fault("merge.moved-target", reason, { hint: fix });
  }
  const aside = await movedAside(own, project, target);
  if (aside !== undefined) throw new Fault("merge.moved-target", aside.reason, { hint: aside.fix });
  const user = (await control.syncFrom({ from: project.path, name: "user", only: [target] })).branches[target];
  if (user === undefined) {
    throw new Fault("merge.no-target", `${project.path} has no branch "${target}" with a commit in it.`, {
      hint: `Name the default branch: signalbox project update ${project.name} --default-branch NAME`,
    });
  }
  const address = where === "here" ? undefined : await remoteOf(git, project);
  if (address === undefined) return { user, remote: undefined, base: user, apart: false };
  const at = (await control.syncFrom({ from: address, name: remoteName })).branches[target];
  const remote = { address, at };
  if (where === "remote") return { user, remote, base: at ?? user, apart: false };
  if (at === undefined || (await control.isAncestor(at, user))) return { user, remote, base: user, apart: false };
  if (await control.isAncestor(user, at)) return { user, remote, base: at, apart: false };
  return { user, remote, base: user, apart: true };
}

/**
 * Publishes a commit to the remote first: if the remote refuses, nothing has moved. Before that, checks that the user's
 * checkout can follow, unless the remote's branch is authoritative. If it cannot follow after all, the commit is published
 * nevertheless, and only the user's branch waits.
 */
export async function publishCommit(
  { where, workspaces, signal, pushed: wasPushed }: Omit<PublishPorts, "inTurn">,
  { control }: ProjectWorkspaces,
  project: Project,
  target: string,
  { user, remote }: Tips,
  commit: string,
): Promise<Publishing> {
  const order: PublishOrder = {
    ...{ repository: project.path, branch: target, commit, expected: user },
    ...{ workspaces, signal },
  };
  const follows = remote !== undefined && where === "remote";
  const waits = commit === user || follows ? undefined : await control.inTheWay(order);
  if (waits !== undefined) return toWaiting(waits);
  let published: Publishing = { kind: "published" };
  if (remote !== undefined && remote.at !== commit) {
    const { address, at } = remote;
    const refusal = await pushed(target, () =>
      control.pushBranch({ remote: address, branch: target, commit, expected: at, isOwn: false, signal }),
    );
    if (refusal !== undefined) return refusal;
    published = { kind: "published", pushed: await notePush(control, where, target, { user, at, commit }) };
    await wasPushed?.();
  }
  if (follows) {
    const there = (await control.syncFrom({ from: remote.address, name: remoteName })).branches[target];
    if (there === undefined || !(await control.isAncestor(commit, there))) return { kind: "moved" };
    // The user's unpushed commits and unfinished work stay unchanged.
    if (await control.isAncestor(user, commit)) await control.publish(order).catch(tellFault);
    return published;
  }
  const result = await (remote === undefined ? control.publish(order) : control.publish(order).catch(tellFault));
  if (typeof result === "string") return isBehind(target, { kind: "waits", reason: result, files: [] });
  if (result.kind === "moved") return { kind: "moved" };
  if (result.kind === "waits") return remote === undefined ? toWaiting(result) : isBehind(target, toWaiting(result));
  // A merge counts as published only once it is seen in the branch.
  const now = (await control.syncFrom({ from: project.path, name: "user", only: [target] })).branches[target];
  const isThere = now !== undefined && (await control.isAncestor(commit, now));
  return isThere ? published : { kind: "moved" };
}

function isBehind(target: string, waiting: Waiting): Waiting {
  const reason = `The remote's "${target}" has the merge already, but your local "${target}" could not follow. ${waiting.reason}`;
  return { ...waiting, reason, onRemote: true };
}

function tellFault(error: unknown): string {
  if (error instanceof Fault) return tell(error);
  throw error;
}

/** An unreachable remote makes a merge wait. */
export function unreachable(error: unknown): Waiting | undefined {
  if (!(error instanceof Fault) || error.code !== "git.remote-unreachable") return undefined;
  return { kind: "waits", reason: tell(error), files: [] };
}

async function pushed(target: string, push: () => Promise<void>): Promise<Publishing | undefined> {
  try {
    await push();
    return undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // Another push came first; a remote may report that in different ways.
    if (error.code === "git.ref-moved" || error.code === "git.diverged") return { kind: "moved" };
    if (!error.code.startsWith("git.remote-")) throw error;
    const reason = `"${target}" could not be pushed, so nothing was merged: ${tell(error)}`;
    return unreachable(error) ?? { kind: "refused", reason, files: [] };
  }
}

function toWaiting({ text, files }: Waits): Waiting {
  return { kind: "waits", reason: text, files: files.map((file) => file.text) };
}
