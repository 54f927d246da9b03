import { tellsOfLife } from "../engine/limit.ts";
import type { Store } from "../ports/store.ts";
import { eventsOf } from "./events-of.ts";

/** Whether a task was held before because a limit on its whole life was reached: whoever continued it has heard of it. */
export async function heardOfLimit(store: Store, task: string, word: "time" | "cost"): Promise<boolean> {
  for await (const { event } of eventsOf(store, task)) if (tellsOfLife(event, word)) return true;
  return false;
}
