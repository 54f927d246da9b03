import { Refusal } from "../../api/client.ts";
import type { Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import type { Project, Store } from "../../ports/store.ts";
import type { TicketList, Tickets } from "../../ports/tickets.ts";
import { blockersOf, isUnfinished, readyTickets } from "../../tickets/ready-tickets.ts";
import type { Ticket } from "../../tickets/ticket.ts";
import type { Core } from "../core.ts";

/** Finds a ticket by its id or, as `tk` does, by a unique part of it. */
export function findTicket({ tickets, broken }: TicketList, reference: string): Ticket {
  const exact = tickets.find(({ id }) => id === reference);
  if (exact !== undefined) return exact;
  const unusable = broken.find(({ file }) => file === `${reference}.md`);
  if (unusable !== undefined)
    throw new Fault("ticket.broken", `The ticket file ${unusable.file} cannot be used. ${unusable.problem}`, {
      hint: "Correct the file; Signalbox does not rewrite a broken ticket.",
    });
  const found = reference === "" ? [] : tickets.filter(({ id }) => id.includes(reference));
  const [only, ...others] = found;
  if (only === undefined)
    throw new Fault("ticket.missing", `There is no ticket ${JSON.stringify(reference)}.`, {
      hint: "See the existing ones: signalbox ticket list",
    });
  if (others.length === 0) return only;
  const names = found.slice(0, 10).map(({ id }) => id);
  throw new Fault("ticket.ambiguous", `"${reference}" could be ${names.join(", ")}.`, { hint: "Give more of its id." });
}

/** What a task is created with. */
interface Wanted {
  readonly ticket?: string;
  readonly summary?: string;
  readonly context?: string;
  readonly priority?: number;
  readonly labels?: readonly string[];
}

/**
 * Fills the beginning of a task from a ticket on which work can begin; values that the caller gives take precedence.
 * Must be called inside the mutex of the project's tickets, so that a ticket is taken only once.
 */
export async function takeTicket<W extends Wanted>(core: Core, project: Project, wanted: W): Promise<W> {
  const all = await core.ticketsOf(project).list();
  const ticket = findTicket(all, wanted.ticket ?? "");
  const { open } = (await tasksByTicket(core.store, project.name)).get(ticket.id) ?? {};
  const refusal = whyNot(ticket, blockersOf(ticket, all.tickets), open);
  if (refusal !== undefined) throw new Refusal([refusal]);
  return {
    summary: (ticket.title || ticket.id).slice(0, maxSummary),
    context: ticket.body,
    priority: defaultPriority - Math.min(ticket.priority, lowestPriority),
    labels: ticket.labels.slice(0, maxLabels),
    ...wanted,
    ticket: ticket.id,
  };
}

/** The key of the mutex for taking a project's tickets. */
export function ticketTurn(project: string): string {
  return `tickets ${project}`;
}

/** `tk` puts 0 first and defaults to 2; tasks put the highest first and default to 0. */
const defaultPriority = 2;
const lowestPriority = 4;
const maxSummary = 2_000;
const maxLabels = 50;

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
      text: `The status of the ticket "${id}" is "${status}"; work begins only on a ticket that is open or in_progress.`,
      fix: `Open it: signalbox ticket reopen ${id}`,
    };
  if (blockers.length === 0) return undefined;
  const fix = "Close them first, or take them out of its deps.";
  return { code: "not-waiting", text: `The ticket "${id}" waits for ${blockers.join(", ")}.`, fix };
}

export interface TasksOfTicket {
  /** The task that is not over; there is at most one. */
  readonly open: Task | undefined;
  readonly newest: Task;
}

const pageSize = 500;

/** The tasks of a project by the ticket that they were made from. */
export async function tasksByTicket(store: Store, project: string): Promise<ReadonlyMap<string, TasksOfTicket>> {
  const found = new Map<string, TasksOfTicket>();
  for (let before: number | undefined; ; ) {
    const page = await store.listTasks(
      { project },
      before === undefined ? { limit: pageSize } : { before, limit: pageSize },
    );
    for (const { task, isOpen } of page) {
      const { ticket = "" } = task;
      if (ticket === "") continue;
      const known = found.get(ticket);
      const newest = known === undefined || known.newest.number < task.number ? task : known.newest;
      found.set(ticket, { open: isOpen ? task : known?.open, newest });
    }
    before = page.at(-1)?.order;
    if (before === undefined) return found;
  }
}

export interface SeenTickets extends TicketList {
  readonly place: Tickets["place"];
  readonly ready: ReadonlySet<string>;
  readonly tasks: ReadonlyMap<string, TasksOfTicket>;
}

export async function readTickets(core: Core, project: Project): Promise<SeenTickets> {
  const source = core.ticketsOf(project);
  const found = await source.list();
  const ready = new Set(readyTickets(found.tickets).map(({ id }) => id));
  return { ...found, place: source.place, ready, tasks: await tasksByTicket(core.store, project.name) };
}
