import { branchNameProblem } from "../../engine/branch-name.ts";
import type { Task } from "../../engine/task.ts";
import type { Log } from "../../ports/log.ts";
import type { Store } from "../../ports/store.ts";
import { isShared } from "../forge/push-task.ts";
import type { Submit } from "../submit.ts";
import { otherTaskWith } from "./other-task-with.ts";
import type { FollowBranch } from "./outside.ts";

export interface FollowPorts {
  readonly store: Store;
  readonly log: Log;
  readonly submit: Submit;
}

/** The agent has given its branch another name, or checked out another one: the task follows. */
export function createFollowBranch(ports: FollowPorts): FollowBranch {
  const { store, log, submit } = ports;
  const underWay = new Set<string>();
  return (task, branch) => {
    const key = `${task.id} ${branch}`;
    if (underWay.has(key)) return;
    underWay.add(key);
    const follow = async () => {
      const why = await whyNot(store, task, branch);
      if (why !== undefined) return log.warn("A workspace has a branch that its task cannot have", { branch, why });
      await submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { branch } });
    };
    follow()
      .catch((error) => log.error("The branch of a task could not be noted", { task: task.id, branch, error }))
      .finally(() => underWay.delete(key));
  };
}

async function whyNot(store: Store, task: Task, branch: string): Promise<string | undefined> {
  const project = await store.getProject(task.project);
  if (project !== undefined && isShared(project, task, branch)) return "It is the one that work goes into.";
  const other = await otherTaskWith(store, task, branch);
  return other === undefined ? branchNameProblem(branch) : `${other.id} is at work on it.`;
}
