import type { Agent } from "../../ports/records.ts";

/** Agents in the order in which they were made. Of those that were made together, Z comes before AA. */
export function orderMade(a: Agent, b: Agent): number {
  return a.at - b.at || a.id.length - b.id.length || (a.id < b.id ? -1 : 1);
}
