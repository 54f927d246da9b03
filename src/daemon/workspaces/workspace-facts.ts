import type { Facts } from "../../engine/request.ts";
import type { Task } from "../../engine/task.ts";
import type { ControlRepository } from "../../ports/control-repository.ts";
import type { Project } from "../../ports/store.ts";
import { targetOf } from "../base-of.ts";
import { lastSeen, type Where } from "../merging/find-tips.ts";
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
  { control, kind }: ProjectWorkspaces,
  project: Project,
  task: Task,
  where: Where,
): Promise<WorkspaceFacts> {
  const collected = task.workspace === "" ? undefined : await collectBranch({ control, kind }, task);
  if (collected === undefined) return keptFacts(control, project, task, where);
  const { commit, dirty } = collected;
  const known = await numbersOf(control, project, task, where, commit);
  return {
    head: commit,
    taskFileTracked: await kind.isTaskFileTracked(task.workspace, await kind.taskFileName(task.workspace)),
    numbers: { workspace: 1, dirty: dirty ? 1 : 0, ...known },
  };
}

/** Whether work is merged is known from its branch and from what was collected, never from a folder that may be gone. */
async function keptFacts(
  control: ControlRepository,
  project: Project,
  task: Task,
  where: Where,
): Promise<WorkspaceFacts> {
  const head = await keptWork({ control }, project, task);
  if (head === undefined) return nowhere;
  const known = await numbersOf(control, project, task, where, head);
  return { head, taskFileTracked: false, numbers: { workspace: 0, dirty: 0, ...known } };
}

async function numbersOf(control: ControlRepository, project: Project, task: Task, where: Where, commit: string) {
  const base = await lastSeen(control, targetOf(project, task), where);
  const commits = base === undefined ? 0 : await control.countCommits(base, commit);
  // What has no commit that the base has not is in it.
  return { commits, merged: base !== undefined && commits === 0 ? 1 : 0 };
}

/** An agent may give its branch another name between the look at it and the collecting: then it is looked at again. */
async function collectBranch(
  { control, kind }: Pick<ProjectWorkspaces, "control" | "kind">,
  { workspace, id }: Task,
): Promise<{ readonly commit: string; readonly dirty: boolean } | undefined> {
  for (let tries = 1; ; tries++) {
    const found = await kind.inspect(workspace);
    if (found.kind !== "there") return undefined;
    const { branch, head, dirty } = found;
    if (branch === undefined) return { commit: head, dirty };
    try {
      const { commit } = await control.collect({ folder: workspace, branch, task: id, seenAt: head });
      return { commit, dirty };
    } catch (error) {
      if (isGivenBack(error)) return undefined;
      if (tries === mostTries || (await kind.currentBranch(workspace)) === branch) throw error;
    }
  }
}

const mostTries = 3;
