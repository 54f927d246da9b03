import { Fault } from "../fault.ts";
import type { Project } from "../ports/store.ts";
import type { Tickets } from "../ports/tickets.ts";

/** The tickets of a project. */
export type TicketsOf = (project: Project) => Tickets;

/** Where there is no way to them. */
export const noTickets: TicketsOf = () => {
  throw new Fault("ticket.unavailable", "This daemon cannot read tickets.");
};

/** The time of a note, as `tk` writes it: to the second. */
export function noteTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}
