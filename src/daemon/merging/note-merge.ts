import type { TaskEvent, TaskEventType } from "../../engine/decision.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Merge } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";

/** Writes into a task's history what became of its merge. A crash in between may tell it twice, but never not at all. */
export async function noteMerge(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  merge: Merge,
  type: TaskEventType,
  data: TaskEvent["data"],
  by: string = merge.by,
): Promise<void> {
  await store.addEvents(merge.task, [{ type, by, data: { target: merge.target, ...data }, set: {} }], clock.now());
  await store.merges.put(merge);
}
