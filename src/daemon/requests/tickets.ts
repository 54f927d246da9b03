import { Refusal } from "../../api/error.ts";
import type { Routes } from "../../api/routes.ts";
import type { TicketView } from "../../api/ticket-routes.ts";
import { blockersOf, readyTickets } from "../../engine/ready-tickets.ts";
import type { Ticket } from "../../engine/ticket.ts";
import { Fault } from "../../fault.ts";
import type { Project } from "../../ports/store.ts";
import type { TicketList, Tickets } from "../../ports/tickets.ts";
import type { Handler } from "../asked.ts";
import type { Core } from "../core.ts";
import { noteTime } from "../tickets-of.ts";
import { findTicket } from "./find-ticket.ts";
import { mustHave } from "./projects.ts";
import { ticketTurn } from "./take-ticket.ts";
import { type TasksOfTicket, tasksByTicket } from "./tasks-by-ticket.ts";

export function listTickets(core: Core): Handler<Routes["listTickets"]> {
  return async ({ params }) => {
    const seen = await lookAtTickets(core, await mustHave(core, params.project ?? ""));
    const tickets = seen.tickets
      .map((ticket) => ticketView(seen, ticket))
      .toSorted((a, b) => Number(a.status === "closed") - Number(b.status === "closed") || a.priority - b.priority);
    return { tickets, broken: seen.broken, place: seen.place };
  };
}

export function getTicket(core: Core): Handler<Routes["getTicket"]> {
  return async ({ params }) => {
    const seen = await lookAtTickets(core, await mustHave(core, params.project ?? ""));
    const ticket = findTicket(seen, params.ticket ?? "");
    return { ...ticketView(seen, ticket), body: ticket.body };
  };
}

export function changeTicket(core: Core): Handler<Routes["changeTicket"]> {
  return async ({ params, body: { status, note = "" } }) => {
    const project = await mustHave(core, params.project ?? "");
    if (status === undefined && note.trim() === "")
      throw new Fault("usage", "Nothing was said about the ticket.", { hint: "Give a status, or a note." });
    return core.inTurn(ticketTurn(project.name), async () => {
      const seen = await lookAtTickets(core, project);
      const { id } = findTicket(seen, params.ticket ?? "");
      const open = seen.tasks.get(id)?.open;
      if (status === "closed" && open !== undefined)
        throw new Refusal([
          {
            code: "not-waiting",
            text: `${open.project}#${open.number} works on the ticket "${id}", and closes it when its work is merged.`,
            fix: `If that is not wanted any more: signalbox task cancel ${open.id}`,
          },
        ]);
      await core.ticketsOf(project).change(id, {
        ...(status === undefined ? {} : { status }),
        ...(note.trim() === "" ? {} : { note: { text: note, at: noteTime(core.clock.now()) } }),
      });
      const now = await lookAtTickets(core, project);
      return ticketView(now, findTicket(now, id));
    });
  };
}

export interface SeenTickets extends TicketList {
  readonly place: Tickets["place"];
  readonly ready: ReadonlySet<string>;
  readonly tasks: ReadonlyMap<string, TasksOfTicket>;
}

export async function lookAtTickets(core: Core, project: Project): Promise<SeenTickets> {
  const source = core.ticketsOf(project);
  const found = await source.list();
  const ready = new Set(readyTickets(found.tickets).map(({ id }) => id));
  return { ...found, place: source.place, ready, tasks: await tasksByTicket(core.store, project.name) };
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
