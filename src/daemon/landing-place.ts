import type { Task } from "../engine/task.ts";
import type { Turns } from "../keyed.ts";
import type { Pushed } from "../ports/records.ts";
import type { Project, Store } from "../ports/store.ts";
import type { Landing, Waiting } from "./merging/merge-queue.ts";
import type { TargetTrouble } from "./moved-target.ts";
import { parentOf, targetOf } from "./project.ts";
import { taskBranch } from "./task-branch.ts";
import { type Tips, userBranch, type Where } from "./user-branch.ts";
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
  readonly store: Pick<Store, "getTask" | "listTasks" | "workspaces">;
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
