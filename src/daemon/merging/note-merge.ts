import type { EventData, TaskEvent } from "../../engine/decision.ts";
import type { TaskEventType } from "../../engine/event-types.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Merge } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";

/** Writes into a task's history what became of its merge. A crash in between may tell it twice, but never not at all. */
export async function noteMerge<Type extends MergeEventType>(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  merge: Merge,
  type: Type,
  data: EventData<Type>,
  by: string = merge.by,
): Promise<void> {
  const event = { type, by, data: { target: merge.target, ...data }, set: {} } as TaskEvent;
  await store.addEvents(merge.task, [event], clock.now());
  await store.merges.put(merge);
}

export type MergeEventType = Extract<TaskEventType, `merge.${string}`>;
