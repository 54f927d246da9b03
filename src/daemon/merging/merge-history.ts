import type { EventData, TaskEvent } from "../../engine/decision.ts";
import type { TaskEventType } from "../../engine/event-types.ts";
import type { Merge } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import type { Clock } from "../../ports/system.ts";
import { eventsOf } from "../project.ts";

/**
 * Records the progress of a merge: its record and an event in the task's history, in one transaction. A crash before it may
 * repeat what led to it. `merge.landed` is recorded exactly once.
 */
export async function noteMerge<Type extends MergeEventType>(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  merge: Merge,
  type: Type,
  data: EventData<Type>,
  by: string = merge.by,
): Promise<void> {
  const event = { type, by, data: { target: merge.target, ...data }, set: {} } as TaskEvent;
  const isRecorded = type === "merge.landed" && (await lastLanding(store, merge.task)) === event.data.after;
  if (isRecorded) return store.merges.put(merge);
  await store.addEvents(merge.task, [event], clock.now(), merge);
}

export type MergeEventType = Extract<TaskEventType, `merge.${string}`>;

/** The commit of the task's last landing in its history; undefined if there is none, or it was undone. */
async function lastLanding(store: Store, task: string): Promise<unknown> {
  let landed: unknown;
  for await (const { event } of eventsOf(store, task)) {
    if (event.type === "merge.landed") landed = event.data.after;
    if (event.type === "merge.undone") landed = undefined;
  }
  return landed;
}
