import type { Task } from "../../engine/task.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import type { WorkspaceKind } from "../../ports/workspaces.ts";
import type { Where } from "../merging/find-tips.ts";
import type { WorkspacesOf } from "./project-workspaces.ts";
import { noFiles, readTaskFiles, type TaskFiles } from "./task-files.ts";
import { nowhere, type WorkspaceFacts, workspaceFacts } from "./workspace-facts.ts";

/** What a task's workspace says at this moment. */
export interface Outside extends TaskFiles {
  /** Undefined where the task has no workspace. */
  readonly facts: WorkspaceFacts | undefined;
}

/** `asksForMain`: something depends on what is in the branch that work goes into, which people move without telling us. */
export type OutsideOf = (task: Task, asksForMain?: boolean) => Promise<Outside>;

/** Told which branch is checked out in a task's workspace, where that is another one than the task's. */
export type FollowBranch = (task: Task, branch: string) => void;

export const nothingOutside: Outside = { ...noFiles, facts: undefined };

export interface OutsidePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly workspacesOf: WorkspacesOf;
  /** A task's branch was collected, with so many commits of its own. */
  collected(task: Task, commit: string, commits: number): void;
  readonly follow: FollowBranch;
  /** Task files were there and are gone: somebody should write them again. */
  filesGone(task: Task): void;
  /** Whose branch counts when it is asked whether work is merged. */
  where(): Where;
}

export function createOutside(ports: OutsidePorts): OutsideOf {
  const { store, clock, workspacesOf, collected, follow, filesGone, where } = ports;
  return async (task, asksForMain = false) => {
    // Of a task without a workspace only that is asked for which its branch can tell.
    if (task.workspace === "" && (!asksForMain || task.runCount === 0)) return nothingOutside;
    const project = await store.getProject(task.project);
    if (project === undefined) return nothingOutside;
    const workspaces = await workspacesOf(project);
    if (asksForMain) await workspaces.control.syncFrom({ from: project.path, name: "user" });
    const seen = await workspaceFacts(workspaces, project, task, where(), clock.now());
    if (task.workspace === "") return { ...noFiles, facts: await withForge(store, task, seen) };
    const branch = await workspaces.kind.currentBranch(task.workspace);
    // Nothing can be read from a folder that is gone; what was read before is in the store.
    const read = seen.numbers.workspace === 1 ? await readTaskFiles(store, workspaces.kind, task) : noFiles;
    // Meanwhile the folder may have been given back, and what was read may be another task's.
    const isStillOurs = (await store.workspaces.list({ task: task.id })).some(({ path }) => path === task.workspace);
    if (!isStillOurs) return { ...noFiles, facts: nowhere };
    const facts = await asItIsNow(workspaces.kind, task, await withForge(store, task, seen));
    if (facts.head !== "") collected(task, facts.head, facts.numbers.commits ?? 0);
    if (branch !== undefined && branch !== task.branch) follow(task, branch);
    if (read.gone.length > 0) filesGone(task);
    return { ...read, unreadable: facts.unreadable ?? read.unreadable, facts };
  };
}

/** Looking may take long. What is said to be merged must be all that there is, so that is looked at last. */
async function asItIsNow(
  kind: Pick<WorkspaceKind, "branchAt">,
  { workspace, branch }: Task,
  facts: WorkspaceFacts,
): Promise<WorkspaceFacts> {
  if (facts.numbers.merged !== 1 || facts.numbers.workspace !== 1) return facts;
  const tip = await kind.branchAt(workspace, branch).catch(() => undefined);
  return tip === undefined || tip === facts.head ? facts : { ...facts, numbers: { ...facts.numbers, merged: 0 } };
}

/** A forge may have squashed it: then no commit of the task's is in the branch, but its work is. */
async function withForge(store: Store, { id }: Task, seen: WorkspaceFacts): Promise<WorkspaceFacts> {
  const isMerged = (await store.pullRequests.get(id))?.state === "merged";
  return isMerged ? { ...seen, numbers: { ...seen.numbers, merged: 1 } } : seen;
}
