import type { Need } from "../engine/needs.ts";
import { groupOf, type TaskGroup } from "../engine/task-group.ts";
import type { StoredTask } from "../ports/store.ts";
import { runRecordId } from "./agents/run-order.ts";
import type { Core } from "./core.ts";

/** What the group of a task is read from. */
type GroupPorts = Pick<Core, "workflows" | "agents" | "pools">;

/** The group of a task with these needs. */
export async function groupOfTask(
  { workflows, agents, pools }: GroupPorts,
  stored: StoredTask,
  needs: readonly Need[],
): Promise<TaskGroup> {
  const { task } = stored;
  const { id, project, workflowHash: hash } = task;
  const workflow = workflows.known(hash) ?? (await workflows.get(hash).catch(() => undefined));
  const runs = Object.values(task.runs).map(({ key }) => runRecordId(id, key));
  return groupOf({
    ...{ task, workflow },
    needsPerson: needs.length > 0,
    isOver: await isOver({ workflows }, stored),
    isAtWork: runs.some((run) => agents?.watchOf(run)?.isOver === false || agents?.isAsleep(run) === true),
    isHeldUp:
      (agents?.dispatch.whyWaiting(id) ?? "") !== "" ||
      agents?.pauses.why(project) !== undefined ||
      pools?.room.waits(id) === true,
  });
}

/**
 * Whether a task counts as over in lists: right after its last move it still owes effects, such as the release of its
 * workspace, which need nobody unless they fail.
 */
export async function isOver({ workflows }: Pick<Core, "workflows">, { task, isOpen }: StoredTask): Promise<boolean> {
  if (!isOpen || task.held !== undefined) return !isOpen;
  const hash = task.workflowHash;
  const workflow = workflows.known(hash) ?? (await workflows.get(hash).catch(() => undefined));
  return workflow?.states[task.status]?.terminal === true;
}
