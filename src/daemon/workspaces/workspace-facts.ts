import type { Facts, Unreadable } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import type { Inspection, Operation } from "../../ports/workspaces.ts";
import { targetOf } from "../base-of.ts";
import { lastSeen, type Where } from "../merging/find-tips.ts";
import { movedPast } from "../merging/moved-past.ts";
import { isOtherBranch } from "./checked-out.ts";
import { isGivenBack } from "./guard-workspaces.ts";
import { keptWork } from "./kept-work.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

/** What git says about a task's work, in its workspace or, where that is gone, as it was kept. */
export type WorkspaceFacts = Pick<Facts, "head" | "taskFileTracked" | "unreadable"> & {
  readonly numbers: Facts["numbers"];
};

export const nowhere: WorkspaceFacts = { head: "", taskFileTracked: false, numbers: { workspace: 0 } };

/**
 * The branch as it is now, collected, so that what is decided about it is safe in the control repository whatever the
 * agent does next.
 */
export async function workspaceFacts(
  workspaces: ProjectWorkspaces,
  project: Project,
  task: Task,
  where: Where,
  now: number,
): Promise<WorkspaceFacts> {
  const { kind } = workspaces;
  const collected = task.workspace === "" ? undefined : await collectBranch(workspaces, project, task, where, now);
  if (collected === undefined) return keptFacts(workspaces, project, task, where);
  const { commit, dirty, unreadable } = collected;
  const known = commit === undefined ? {} : await numbersOf(workspaces, project, task, where, commit);
  return {
    head: commit ?? "",
    taskFileTracked: await kind.isTaskFileTracked(task.workspace, await kind.taskFileName(task.workspace)),
    numbers: { workspace: 1, dirty: dirty ? 1 : 0, ...known },
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}

/** Whether work is merged is known from its branch and from what was collected, never from a folder that may be gone. */
async function keptFacts(
  workspaces: ProjectWorkspaces,
  project: Project,
  task: Task,
  where: Where,
): Promise<WorkspaceFacts> {
  const head = await keptWork(workspaces, project, task);
  if (head === undefined) return nowhere;
  const known = await numbersOf(workspaces, project, task, where, head);
  return { head, taskFileTracked: false, numbers: { workspace: 0, dirty: 0, ...known } };
}

async function numbersOf(own: ProjectWorkspaces, project: Project, task: Task, where: Where, commit: string) {
  const { control } = own;
  const base = await lastSeen(control, targetOf(project, task), where);
  const commits = base === undefined ? 0 : await control.countCommits(base, commit);
  // What has no commit that the base has not is in it, unless it got there past every merge.
  const isIn = base !== undefined && commits === 0;
  const isMerged = isIn && (await movedPast(own, project, task, async () => commit)) === undefined;
  return { commits, merged: isMerged ? 1 : 0 };
}

interface CollectedWork {
  /** Undefined where the task has no commit anywhere. */
  readonly commit: string | undefined;
  readonly dirty: boolean;
  readonly unreadable?: Unreadable | undefined;
}

/** An agent may give its branch another name between the look at it and the collecting: then it is looked at again. */
async function collectBranch(
  own: ProjectWorkspaces,
  project: Project,
  task: Task,
  where: Where,
  now: number,
): Promise<CollectedWork | undefined> {
  const { control, kind } = own;
  const { workspace, id } = task;
  for (let tries = 1; ; tries++) {
    const found = await kind.inspect(workspace);
    if (found.kind !== "there") return undefined;
    const { branch, head, dirty } = found;
    try {
      if (branch === undefined) return await collectDetached(own, project, task, found, where, now);
      const { commit } = await control.collect({ folder: workspace, branch, task: id, seenAt: head });
      return { commit, dirty };
    } catch (error) {
      if (isGivenBack(error)) return undefined;
      if (isOtherBranch(error) && branch !== undefined) {
        const other = { reason: error.message, fix: `${error.hint}. Then ask again.`, otherBranch: branch };
        return await collectDetached(own, project, task, found, where, now, other);
      }
      if (tries === mostTries || (await kind.currentBranch(workspace)) === branch) throw error;
    }
  }
}

const mostTries = 3;

/**
 * Where HEAD is on no branch, or on one that is not the task's (`other`), the task's work is what its branch has. Commits that only HEAD has are salvaged, and no
 * evidence counts until they are on the branch: it may be about them.
 */
async function collectDetached(
  { control, repository }: ProjectWorkspaces,
  project: Project,
  task: Task,
  { head, dirty, operation }: Extract<Inspection, { kind: "there" }>,
  where: Where,
  now: number,
  other?: Unreadable,
): Promise<CollectedWork> {
  const { workspace: folder, branch, id } = task;
  const commit = await control.collect({ folder, branch, task: id }).then(
    (collected) => collected.commit,
    (error) => {
      // The branch may be gone there: then what was collected before counts.
      if (isGivenBack(error) || !(error instanceof Fault)) throw error;
      return keptWork({ control }, project, task);
    },
  );
  const base = await lastSeen(control, targetOf(project, task), where);
  let relation = await relationOf(control, commit, base, head);
  let trouble = "";
  if (relation === "unknown") {
    const saving = control.salvage({ folder, task: id, at: now, repository });
    trouble = await saving.then(() => "", troubleOf);
    relation = await relationOf(control, commit, base, head);
  }
  if (other !== undefined) return { commit, dirty, unreadable: { ...other, reason: `${other.reason}${trouble}` } };
  const { reason, fix } = operation === undefined ? onNoBranch(task, head, relation) : unfinished(folder, operation);
  if (relation === "contained" && operation === undefined) return { commit, dirty };
  return { commit, dirty, unreadable: { reason: `${reason}${trouble}`, fix } };
}

/** Whoever asks is told, and asks again: nothing else may depend on it. */
function troubleOf(error: unknown): string {
  if (!(error instanceof Fault)) throw error;
  return ` They could not be saved: ${error.message}`;
}

/** How HEAD is related to the task's branch, and to the one that work goes into. unknown: the control repository does not have it. */
type Relation = "contained" | "ahead" | "apart" | "unknown";

async function relationOf(
  control: ControlRepository,
  commit: string | undefined,
  base: string | undefined,
  head: string,
): Promise<Relation> {
  try {
    if (base !== undefined && (await control.isAncestor(head, base))) return "contained";
    if (commit === undefined) return "unknown";
    if (await control.isAncestor(head, commit)) return "contained";
    return (await control.isAncestor(commit, head)) ? "ahead" : "apart";
  } catch (error) {
    if (error instanceof Fault) return "unknown";
    throw error;
  }
}

function onNoBranch({ workspace, branch }: Task, head: string, relation: Relation): Unreadable {
  return {
    reason: `${workspace} is on no branch (detached HEAD), so its newest commits are not on "${branch}".`,
    fix:
      relation === "apart"
        ? `Take them along there: git switch ${branch} && git merge ${head}. Then ask again.`
        : `Take them along there: git switch -C ${branch}. Then ask again.`,
  };
}

function unfinished(folder: string, operation: Operation): Unreadable {
  const end =
    operation === "bisect"
      ? "End it there: git bisect reset."
      : `End it there: git ${operation} --continue, or git ${operation} --abort.`;
  return { reason: `A ${operation} is under way in ${folder}, which is on no branch.`, fix: `${end} Then ask again.` };
}
