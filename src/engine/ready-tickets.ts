import type { Ticket } from "./ticket.ts";

/** Those on which work can begin or go on, the most urgent first, as `tk ready` has them. */
export function readyTickets(tickets: readonly Ticket[]): readonly Ticket[] {
  return tickets
    .filter((ticket) => isUnfinished(ticket) && blockersOf(ticket, tickets).length === 0)
    .toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
}

/** What a ticket waits for: dependencies that are not closed. One that is not there is not closed. */
export function blockersOf({ deps }: Ticket, tickets: readonly Ticket[]): readonly string[] {
  const closed = new Set(tickets.filter(({ status }) => status === "closed").map(({ id }) => id));
  return deps.filter((dep) => !closed.has(dep));
}

/** Whether there is work to do. What stands for something else, nobody here knows. */
export function isUnfinished({ status }: Pick<Ticket, "status">): boolean {
  return status === "open" || status === "in_progress";
}
