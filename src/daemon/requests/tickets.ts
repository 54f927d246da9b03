import { Refusal } from "../../api/client.ts";
import type { Routes } from "../../api/routes.ts";
import type { TicketView } from "../../api/tickets.ts";
import { Fault } from "../../fault.ts";
import { blockersOf } from "../../tickets/ready-tickets.ts";
import type { Ticket } from "../../tickets/ticket.ts";
import type { Core } from "../core.ts";
import { findTicket, readTickets, type SeenTickets, ticketTurn } from "../crew/tickets.ts";
import type { Handler } from "../handlers.ts";
import { mustHave, noteTime } from "../project.ts";

export function listTickets(core: Core): Handler<Routes["listTickets"]> {
  return async ({ params }) => {
    const seen = await readTickets(core, await mustHave(core, params.project ?? ""));
    const tickets = seen.tickets
      .map((ticket) => ticketView(seen, ticket))
      .toSorted((a, b) => Number(a.status === "closed") - Number(b.status === "closed") || a.priority - b.priority);
    return { tickets, broken: seen.broken, place: seen.place };
  };
}

export function getTicket(core: Core): Handler<Routes["getTicket"]> {
  return async ({ params }) => {
    const seen = await readTickets(core, await mustHave(core, params.project ?? ""));
    const ticket = findTicket(seen, params.ticket ?? "");
    return { ...ticketView(seen, ticket), body: ticket.body };
  };
}

export function changeTicket(core: Core): Handler<Routes["changeTicket"]> {
  return async ({ params, body: { status, note = "" } }) => {
    const project = await mustHave(core, params.project ?? "");
    if (status === undefined && note.trim() === "")
      throw new Fault("usage", "Nothing to change was given.", { hint: "Give a status, or a note." });
    return core.inTurn(ticketTurn(project.name), async () => {
      const seen = await readTickets(core, project);
      const { id } = findTicket(seen, params.ticket ?? "");
      const open = seen.tasks.get(id)?.open;
      if (status === "closed" && open !== undefined)
        throw new Refusal([
          {
            code: "not-waiting",
            text: `${open.project}#${open.number} works on the ticket "${id}", and closes it when its work is merged.`,
            fix: `If that is no longer wanted: signalbox task cancel ${open.id}`,
          },
        ]);
      await core.ticketsOf(project).change(id, {
        ...(status === undefined ? {} : { status }),
        ...(note.trim() === "" ? {} : { note: { text: note, at: noteTime(core.clock.now()) } }),
      });
      const now = await readTickets(core, project);
      return ticketView(now, findTicket(now, id));
    });
  };
}

function ticketView({ tickets, ready, tasks, place }: SeenTickets, ticket: Ticket): TicketView {
  const { body: _, ...fields } = ticket;
  const { newest, open } = tasks.get(ticket.id) ?? {};
  return {
    ...fields,
    blockers: blockersOf(ticket, tickets),
    isReady: ready.has(ticket.id),
    task: newest === undefined ? "" : `${newest.project}#${newest.number}`,
    isTaken: open !== undefined,
    place,
  };
}
