import type { Ticket } from "../../engine/ticket.ts";
import { Fault } from "../../fault.ts";
import type { TicketList } from "../../ports/tickets.ts";

/** By its id or, as with `tk`, by a part of it that no other one has. */
export function findTicket({ tickets, broken }: TicketList, reference: string): Ticket {
  const exact = tickets.find(({ id }) => id === reference);
  if (exact !== undefined) return exact;
  const unusable = broken.find(({ file }) => file === `${reference}.md`);
  if (unusable !== undefined)
    throw new Fault("ticket.broken", `The ticket file ${unusable.file} cannot be used. ${unusable.problem}`, {
      hint: "Mend it; nobody else writes it.",
    });
  const found = reference === "" ? [] : tickets.filter(({ id }) => id.includes(reference));
  const [only, ...others] = found;
  if (only === undefined)
    throw new Fault("ticket.missing", `There is no ticket ${JSON.stringify(reference)}.`, {
      hint: "See those that are: signalbox ticket list",
    });
  if (others.length === 0) return only;
  const names = found.slice(0, 10).map(({ id }) => id);
  throw new Fault("ticket.ambiguous", `"${reference}" can be ${names.join(", ")}.`, { hint: "Write more of its id." });
}
