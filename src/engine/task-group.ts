import { startOf } from "./persons-turn.ts";
import type { Task } from "./task.ts";
import type { Workflow } from "./workflow.ts";

/** The groups that lists and dashboards put tasks into. Every task is in exactly one. */
export const taskGroups = ["needs-me", "running", "queued", "over"] as const;
export type TaskGroup = (typeof taskGroups)[number];

/** What decides about a task's group. */
export interface GroupFacts {
  readonly task: Task;
  /** Undefined where it can no longer be read. */
  readonly workflow: Workflow | undefined;
  /** Its needs are not empty. */
  readonly needsPerson: boolean;
  /** It has ended, and owes at most effects that need nobody. */
  readonly isOver: boolean;
  /** A run of it has been started and has not ended. */
  readonly isAtWork: boolean;
  /** Something that passes by itself or with a resume holds it up: its run waits for a seat, it waits for a workspace, or it is paused. */
  readonly isHeldUp: boolean;
}

/**
 * needs-me: it needs a person. over: it has ended. queued: it waits for its turn, and nothing of it is at work. running: everything
 * else, also where it waits for something outside, such as checks of its pull request.
 */
export function groupOf({ task, workflow, needsPerson, isOver, isAtWork, isHeldUp }: GroupFacts): TaskGroup {
  if (needsPerson) return "needs-me";
  if (isOver) return "over";
  if (isAtWork) return "running";
  const isUnstarted = task.phase === "waiting" && workflow !== undefined && startOf(workflow, task) !== undefined;
  return isHeldUp || isUnstarted ? "queued" : "running";
}
