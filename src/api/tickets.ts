import { route } from "./client.ts";
import { changeWire, taskWire } from "./tasks.ts";
import { boolean, integer, list, nullable, number, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const name = shortText(100);

/** A named agent of a crew. Times are ISO texts. */
const slotWire = record({
  name: text,
  state: oneOf("idle", "ready", "working", "done", "stuck"),
  /** Why it is stuck, what it waits for, or what failed before the next retry. */
  reason: text,
  /** Its task as project#number; empty if it has none. */
  task: text,
  /** The id of its present or last task. */
  lastTask: text,
  ticket: text,
  branch: text,
  workspace: text,
  session: text,
  steps: integer(0),
  assignedAt: nullable(text),
  stepAt: nullable(text),
  madeAt: text,
  /** Totals over all its tasks. */
  inputTokens: integer(0),
  outputTokens: integer(0),
  cost: nullable(number),
});
export type SlotView = TypeOf<typeof slotWire>;

const crewWire = record({
  project: text,
  /** Whether tickets are given to idle agents. */
  running: boolean,
  most: integer(0),
  workflow: text,
  agents: list(slotWire),
  /** Ready tickets that were never assigned. */
  waiting: list(text),
  /** Open tickets that wait for others. */
  unready: list(text),
  /** Ready tickets whose earlier task has ended: a person must assign them. */
  leftOver: list(text),
  /** Files that cannot be read as tickets. */
  unread: list(text),
  /** Why some tickets can never become ready, one sentence each. */
  troubles: list(text),
  /** Why tickets could not be assigned; `ticket` is empty if the problem affects all. */
  problems: list(record({ ticket: text, problem: text })),
  /** What a person should know about how the work is merged, one sentence each. */
  warnings: list(text),
  /** How many workspaces the project may have, and so how many tasks can run at the same time. */
  poolSize: integer(1),
});
export type CrewView = TypeOf<typeof crewWire>;

/** The routes about crews. */
export const crewRoutes = {
  getCrew: route({
    name: "getCrew",
    method: "GET",
    path: "/v1/projects/:project/crew",
    summary: "Show a project's agents and the tickets that wait for them",
    access: "person",
    answer: crewWire,
  }),
  runCrew: route({
    name: "runCrew",
    method: "POST",
    path: "/v1/projects/:project/crew/run",
    summary: "Give ready tickets to idle agents from now on",
    access: "person",
    isNoted: true,
    body: record({}, { most: integer(1, 1_000), workflow: shortText(4_000), allowFullPermissions: boolean }),
    answer: crewWire,
  }),
  stopCrew: route({
    name: "stopCrew",
    method: "POST",
    path: "/v1/projects/:project/crew/stop",
    summary: "Give out no more tickets; running tasks continue",
    access: "person",
    isNoted: true,
    body: record({}),
    answer: crewWire,
  }),
  giveTicket: route({
    name: "giveTicket",
    method: "POST",
    path: "/v1/projects/:project/crew/:agent/assign",
    summary: "Create a task from a ticket, and give it to an idle agent",
    access: "person",
    isNoted: true,
    body: record({ ticket: name }, { workflow: shortText(4_000) }),
    answer: record({ agent: slotWire, task: taskWire, warnings: list(text) }),
  }),
  restartSlot: route({
    name: "restartSlot",
    method: "POST",
    path: "/v1/projects/:project/crew/:agent/kill",
    summary: "End an agent's run, and move its task back to the initial state",
    access: "person",
    isNoted: true,
    body: record({}),
    answer: changeWire,
  }),
} as const;

/** Whether the ticket is a file of the project or an issue of its forge. */
const place = oneOf("file", "issue");

const ticketFields = {
  id: text,
  status: text,
  title: text,
  type: text,
  /** 0 is the most urgent. */
  priority: integer(0),
  deps: list(text),
  /** Its dependencies that are not closed. */
  blockers: list(text),
  links: list(text),
  created: text,
  assignee: text,
  labels: list(text),
  parent: text,
  /** It is unfinished, and all its dependencies are closed. */
  isReady: boolean,
  /** The newest task created from it, as project#number; empty if there is none. */
  task: text,
  /** That task is still open. */
  isTaken: boolean,
  place,
};

const ticketWire = record(ticketFields);
export type TicketView = TypeOf<typeof ticketWire>;

/** The routes about tickets. */
export const ticketRoutes = {
  listTickets: route({
    name: "listTickets",
    method: "GET",
    path: "/v1/projects/:project/tickets",
    summary: "List a project's tickets, the most urgent first, and the files that cannot be read as tickets",
    access: "person",
    answer: record({ tickets: list(ticketWire), broken: list(record({ file: text, problem: text })), place }),
  }),
  getTicket: route({
    name: "getTicket",
    method: "GET",
    path: "/v1/projects/:project/tickets/:ticket",
    summary: "Show a ticket: by its id, or by a part of it",
    access: "person",
    answer: record({ ...ticketFields, body: text }),
  }),
  changeTicket: route({
    name: "changeTicket",
    method: "PATCH",
    path: "/v1/projects/:project/tickets/:ticket",
    summary: "Change a ticket's status, or add a note",
    access: "person",
    isNoted: true,
    body: record({}, { status: oneOf("open", "in_progress", "closed"), note: shortText(100_000) }),
    answer: ticketWire,
  }),
} as const;
