import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import type { Submit } from "../submit.ts";
import { isOtherBranch } from "./checked-out.ts";
import type { FollowBranch } from "./outside.ts";
import type { WorkspacesOf } from "./project-workspaces.ts";

export interface FollowPorts {
  readonly store: Store;
  readonly log: Log;
  readonly submit: Submit;
  readonly workspacesOf: WorkspacesOf;
  /** What is wrong with the workspace of a task has changed. */
  troubled(task: string): void;
}

/**
 * The agent has given its branch another name, or checked out another one: the task follows where that branch counts as its
 * work, which the collecting decides. Otherwise the task keeps its branch.
 */
export function createFollowBranch({ store, log, submit, workspacesOf, troubled }: FollowPorts): FollowBranch {
  const underWay = new Set<string>();
  const told = new Map<string, string>();
  return (task, branch) => {
    const key = `${task.id} ${branch}`;
    if (underWay.has(key)) return;
    underWay.add(key);
    const follow = async () => {
      const project = await store.getProject(task.project);
      const now = (await store.getTask(task.id))?.task;
      if (project === undefined || now === undefined || now.branch === branch || now.workspace === "") return;
      const { control } = await workspacesOf(project);
      await control.collect({ folder: now.workspace, branch, task: task.id });
      told.delete(task.id);
      await submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { branch } });
    };
    follow()
      .catch((error) => {
        if (!isOtherBranch(error))
          return log.error("The branch of a task could not be noted", { task: task.id, branch, error });
        // A second look finds the same while nothing has changed.
        if (told.get(task.id) === error.message) return;
        told.set(task.id, error.message);
        troubled(task.id);
        log.warn("A workspace has a branch that its task cannot have", { branch, why: error.message });
      })
      .finally(() => underWay.delete(key));
  };
}
