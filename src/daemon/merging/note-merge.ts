import type { EventData, TaskEvent } from "../../engine/decision.ts";
import type { TaskEventType } from "../../engine/event-types.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Merge } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { eventsOf } from "../events-of.ts";

/**
 * Writes into a task's history what became of its merge. A crash in between may tell it twice, but never not at all; that
 * work has landed is told once.
 */
export async function noteMerge<Type extends MergeEventType>(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  merge: Merge,
  type: Type,
  data: EventData<Type>,
  by: string = merge.by,
): Promise<void> {
  const event = { type, by, data: { target: merge.target, ...data }, set: {} } as TaskEvent;
  const isTold = type === "merge.landed" && (await lastLanding(store, merge.task)) === event.data.after;
  if (!isTold) await store.addEvents(merge.task, [event], clock.now());
  await store.merges.put(merge);
}

export type MergeEventType = Extract<TaskEventType, `merge.${string}`>;

/** With which commit the task's work is in the branch, as history tells it; undefined where it is not, or not any more. */
async function lastLanding(store: Store, task: string): Promise<unknown> {
  let landed: unknown;
  for await (const { event } of eventsOf(store, task)) {
    if (event.type === "merge.landed") landed = event.data.after;
    if (event.type === "merge.undone") landed = undefined;
  }
  return landed;
}
