import type { Store, StoredEvent } from "../ports/store.ts";
import { eventsOf } from "./events-of.ts";

const arrivals = new Set(["task.created", "task.moved", "task.migrated"]);

/** Whether a person has brought a task where it is, or has tried it again there. */
export async function beganByPerson(store: Store, task: string): Promise<boolean> {
  return (await lastBeginning(store, task))?.event.by === "human";
}

/** When a task entered its state or, where it was held there since, when it was tried again. */
export async function beginningOfStay(store: Store, task: string, otherwise: number): Promise<number> {
  return (await lastBeginning(store, task))?.at ?? otherwise;
}

async function lastBeginning(store: Store, task: string): Promise<StoredEvent | undefined> {
  let last: StoredEvent | undefined;
  let isHeld = false;
  for await (const stored of eventsOf(store, task)) {
    const wasHeld = isHeld;
    if ("held" in stored.event.set) isHeld = stored.event.set.held !== undefined;
    if (arrivals.has(stored.event.type) || (wasHeld && !isHeld)) last = stored;
  }
  return last;
}
