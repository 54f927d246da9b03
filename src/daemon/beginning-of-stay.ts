import type { Store } from "../ports/store.ts";
import { eventsOf } from "./events-of.ts";

const arrivals = new Set(["task.created", "task.moved", "task.migrated"]);

/** When a task entered its state or, where it was held there since, when it was tried again. */
export async function beginningOfStay(store: Store, task: string, otherwise: number): Promise<number> {
  let at = otherwise;
  let isHeld = false;
  for await (const { event, at: now } of eventsOf(store, task)) {
    const wasHeld = isHeld;
    if ("held" in event.set) isHeld = event.set.held !== undefined;
    if (arrivals.has(event.type) || (wasHeld && !isHeld)) at = now;
  }
  return at;
}
