import { Refusal } from "../../api/error.ts";
import { blockersOf, isUnfinished } from "../../engine/ready-tickets.ts";
import type { Task } from "../../engine/task.ts";
import type { Ticket } from "../../engine/ticket.ts";
import type { Project } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import { findTicket } from "./find-ticket.ts";
import { tasksByTicket } from "./tasks-by-ticket.ts";

/** What a task is made with. */
interface Wanted {
  readonly ticket?: string;
  readonly summary?: string;
  readonly context?: string;
  readonly priority?: number;
}

/**
 * Makes a task's beginning of a ticket on which work can begin. Whatever is said about the task itself counts more. To be
 * called in the turn of the project's tickets, so that two who want the same one get it one after the other.
 */
export async function takeTicket<W extends Wanted>(core: Core, project: Project, wanted: W): Promise<W> {
  const all = await core.ticketsOf(project).list();
  const ticket = findTicket(all, wanted.ticket ?? "");
  const { open } = (await tasksByTicket(core.store, project.name)).get(ticket.id) ?? {};
  const refusal = whyNot(ticket, blockersOf(ticket, all.tickets), open);
  if (refusal !== undefined) throw new Refusal([refusal]);
  return {
    summary: (ticket.title || ticket.id).slice(0, longestSummary),
    context: ticket.body,
    priority: usual - Math.min(ticket.priority, lowest),
    ...wanted,
    ticket: ticket.id,
  };
}

/** Who takes a ticket of a project waits for this turn. */
export function ticketTurn(project: string): string {
  return `tickets ${project}`;
}

/** With `tk` 0 comes first and 2 is usual; with tasks the highest comes first and 0 is usual. */
const usual = 2;
const lowest = 4;
const longestSummary = 2_000;

function whyNot({ id, status }: Ticket, blockers: readonly string[], open: Task | undefined) {
  if (status === "closed")
    return {
      code: "not-waiting",
      text: `The ticket "${id}" is closed.`,
      fix: `Open it: signalbox ticket reopen ${id}`,
    };
  if (open !== undefined)
    return {
      code: "not-waiting",
      text: `${open.project}#${open.number} works on the ticket "${id}" already.`,
      fix: `See how far it is: signalbox task show ${open.id}`,
    };
  if (!isUnfinished({ status }))
    return {
      code: "not-waiting",
      text: `The status of the ticket "${id}" is "${status}", and work begins on one that is open or in_progress.`,
      fix: `Open it: signalbox ticket reopen ${id}`,
    };
  if (blockers.length === 0) return undefined;
  const fix = "Close them first, or take them out of its deps.";
  return { code: "not-waiting", text: `The ticket "${id}" waits for ${blockers.join(", ")}.`, fix };
}
