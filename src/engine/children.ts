import { isJsonObject } from "../json.ts";
import {
  type Child,
  type FanOutOptions,
  type Item,
  type ItemsReading,
  type NextChildren,
  nextChildren,
  readItems,
} from "./fan-out.ts";
import { startOf } from "./persons-turn.ts";
import type { Part, Task } from "./task.ts";
import { resolve } from "./when.ts";
import type { FanOut, Outcome, Workflow } from "./workflow.ts";

/** A child of a fan-out, as the store has it. */
export interface ChildTask {
  readonly task: Task & { readonly part: Part };
  readonly isOpen: boolean;
  /** Undefined where it can no longer be read. */
  readonly workflow: Workflow | undefined;
}

/** The items that a fan-out is over: the list that its state names, in the task's results. */
export function planOf(task: Pick<Task, "results">, { from }: Pick<FanOut, "from">): ItemsReading {
  const result = task.results[from.result];
  return readItems(isJsonObject(result) ? result[from.field] : undefined, from.field);
}

/** The children of one stay of their parent: for each item the newest try, in the order in which they were made. */
export function newestTries(children: readonly ChildTask[], stay: number): readonly ChildTask[] {
  const newest = new Map<string, ChildTask>();
  for (const child of children) {
    const { part } = child.task;
    if (part.stay !== stay) continue;
    if (part.try > (newest.get(part.item)?.task.part.try ?? 0)) newest.set(part.item, child);
  }
  return [...newest.values()];
}

/**
 * How far a child is. One that was cancelled, by a person or by its parent, is skipped: it is not tried again. One whose
 * end owes effects is running, unless they have failed: its parent does not wait for a person then.
 */
export function stateOfChild({ task, isOpen, workflow }: ChildTask): Child["state"] {
  const state = workflow?.states[task.status];
  if (state === undefined) return isOpen ? "running" : "failed";
  if (state.outcome !== undefined && (!isOpen || task.held !== undefined)) return stateAfter[state.outcome];
  return !state.terminal && isUnstarted({ task, workflow }) ? "waiting" : "running";
}

const stateAfter: Readonly<Record<Outcome, Child["state"]>> = { done: "done", failed: "failed", cancelled: "skipped" };

/** Whether a child waits for its parent to give it a slot. */
export function isUnstarted({ task, workflow }: Pick<ChildTask, "task" | "workflow">): boolean {
  return task.part.slot === undefined && workflow !== undefined && startOf(workflow, task) !== undefined;
}

/** Whether the children of a task's present stay are wanted: it waits for them, and not all have ended. */
export function awaitsChildren(workflow: Workflow, { status, wait }: Task): boolean {
  return workflow.states[status]?.wait.kind === "fan_out" && !wait.childrenOver && !wait.skipped;
}

/** How a fan-out is carried out. Its parts may have to wait for a workspace in addition: the pool is not its own. */
export function fanOutOptions(workflow: Workflow, task: Task, { parallel, waves, policy }: FanOut): FanOutOptions {
  return {
    parallel: resolve(parallel, workflow, task),
    waves: resolve(waves, workflow, task),
    policy: resolve(policy, workflow, task) as FanOutOptions["policy"],
  };
}

/** What a parent does with the children of its stay now; the children are those that `newestTries` returns. */
export function nextOfFanOut(
  items: readonly Item[],
  children: readonly ChildTask[],
  options: FanOutOptions,
): NextChildren {
  const known = children.map((child): Child => {
    const { part } = child.task;
    return { id: part.item, state: stateOfChild(child), tries: part.try };
  });
  return nextChildren(items, known, options);
}

/** The lowest slot that no open sibling has. */
export function freeSlot(children: readonly ChildTask[]): number {
  const taken = new Set(children.flatMap(({ task, isOpen }) => (isOpen ? [task.part.slot] : [])));
  let slot = 1;
  while (taken.has(slot)) slot++;
  return slot;
}

/** Why a part is not started: which of the items that it needs, directly or not, has not been done. */
export function whySkipped(items: readonly Item[], children: readonly ChildTask[], item: string): string {
  const lost = new Map(
    children.flatMap((child) => {
      const state = stateOfChild(child);
      return state === "failed" || state === "skipped" ? [[child.task.part.item, state] as const] : [];
    }),
  );
  const byId = new Map(items.map((each) => [each.id, each]));
  const seen = new Set<string>();
  const open = [item];
  for (const id of open) {
    for (const need of byId.get(id)?.needs ?? []) {
      const state = lost.get(need);
      if (state !== undefined)
        return `Skipped: it needs "${need}", which ${state === "failed" ? "failed" : "was skipped"}.`;
      if (!seen.has(need)) open.push(need);
      seen.add(need);
    }
  }
  return whyStopped(children);
}

/** Why a part was not done. A reason of the engine's says so; any other is older than the cancel of a person. */
export function whyNotDone(child: ChildTask): string {
  const { reason, status } = child.task;
  switch (stateOfChild(child)) {
    case "failed":
      return reason || `It ended in "${status}".`;
    case "skipped":
      return /^(Skipped|Stopped): /.test(reason) ? reason : "A person cancelled it.";
    default:
      return "";
  }
}

/** Why a part is stopped: with the policy `stop`, the first part that is not done ends the others. */
export function whyStopped(children: readonly ChildTask[]): string {
  const first = children.find((child) => ["failed", "skipped"].includes(stateOfChild(child)));
  const name = first === undefined ? "a part" : `"${first.task.part.item}"`;
  return `Stopped: ${name} was not done, and the policy is stop.`;
}
