import { readyTickets } from "./ready-tickets.ts";
import type { Ticket } from "./ticket.ts";

/**
 * In which order ready tickets are given out: the most urgent first and, of those that are as urgent, the one that the longest
 * chain of others waits for, so that at the end nobody waits for a chain that could have begun earlier.
 */
export function givingOrder(tickets: readonly Ticket[]): readonly Ticket[] {
  const waiting = new Map<string, string[]>();
  for (const { id, deps, status } of tickets)
    if (status !== "closed") for (const dep of deps) waiting.set(dep, [...(waiting.get(dep) ?? []), id]);
  const lengths = new Map<string, number>();
  const behind = (id: string): number => {
    const known = lengths.get(id);
    if (known !== undefined) return known;
    // Those that wait for each other are never ready, and must not keep us here.
    lengths.set(id, 0);
    const length = Math.max(0, ...(waiting.get(id) ?? []).map((next) => 1 + behind(next)));
    lengths.set(id, length);
    return length;
  };
  return readyTickets(tickets).toSorted((a, b) => a.priority - b.priority || behind(b.id) - behind(a.id));
}
