import { route } from "./route.ts";
import { boolean, integer, list, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

/** Whether it is a file of the project, or an issue of its forge. */
const place = oneOf("file", "issue");

const ticketFields = {
  id: text,
  status: text,
  title: text,
  type: text,
  /** 0 is the most urgent. */
  priority: integer(0),
  deps: list(text),
  /** Of its deps those that are not closed. */
  blockers: list(text),
  links: list(text),
  created: text,
  assignee: text,
  parent: text,
  /** It is not finished, and waits for nothing. */
  isReady: boolean,
  /** The newest task that was made from it, as project#number; empty where there is none. */
  task: text,
  /** That task is not over. */
  isTaken: boolean,
  place,
};

export const ticketWire = record(ticketFields);
export type TicketView = TypeOf<typeof ticketWire>;

/** What can be asked about the tickets of a project. */
export const ticketRoutes = {
  listTickets: route({
    name: "listTickets",
    method: "GET",
    path: "/v1/projects/:project/tickets",
    summary: "List a project's tickets, the most urgent first, and the files that cannot be read as one",
    access: "read",
    answer: record({ tickets: list(ticketWire), broken: list(record({ file: text, problem: text })), place }),
  }),
  getTicket: route({
    name: "getTicket",
    method: "GET",
    path: "/v1/projects/:project/tickets/:ticket",
    summary: "Show a ticket: by its id, or by a part of it",
    access: "read",
    answer: record({ ...ticketFields, body: text }),
  }),
  changeTicket: route({
    name: "changeTicket",
    method: "PATCH",
    path: "/v1/projects/:project/tickets/:ticket",
    summary: "Change a ticket's status, or add a note",
    access: "human",
    body: record({}, { status: oneOf("open", "in_progress", "closed"), note: shortText(100_000) }),
    answer: ticketWire,
  }),
} as const;
