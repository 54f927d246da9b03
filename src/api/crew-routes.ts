import { route } from "./route.ts";
import { changeWire, taskWire } from "./task-wires.ts";
import { boolean, integer, list, nullable, number, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const name = shortText(100);

/** A named agent of a crew. Times are ISO texts. */
export const slotWire = record({
  name: text,
  state: oneOf("idle", "ready", "working", "done", "stuck"),
  /** Why it is stuck, what it waits for, or what went wrong before it is tried again. */
  reason: text,
  /** Its task as project#number; empty where it has none. */
  task: text,
  /** The id of the task that it has, or had last. */
  lastTask: text,
  ticket: text,
  branch: text,
  workspace: text,
  session: text,
  steps: integer(0),
  assignedAt: nullable(text),
  stepAt: nullable(text),
  madeAt: text,
  /** For all tasks that it has had. */
  inputTokens: integer(0),
  outputTokens: integer(0),
  cost: nullable(number),
});
export type SlotView = TypeOf<typeof slotWire>;

export const crewWire = record({
  project: text,
  /** Tickets are given to idle agents. */
  running: boolean,
  most: integer(0),
  workflow: text,
  agents: list(slotWire),
  /** Tickets that are ready and were never given out. */
  waiting: list(text),
  /** Tickets that are open and not ready: they wait for others. */
  unready: list(text),
  /** Tickets that are ready and had a task that is over: a person has to give them out. */
  leftOver: list(text),
  /** Files that are no tickets, or not to be read as such. */
  unread: list(text),
  /** Why tickets can never be ready as things are, a sentence each. */
  troubles: list(text),
  /** Why tickets could not be given out; the ticket is empty where that holds for all. */
  problems: list(record({ ticket: text, problem: text })),
  /** How many workspaces the project may have: so many tasks are at work at once. */
  poolSize: integer(1),
});
export type CrewView = TypeOf<typeof crewWire>;

/** What can be asked about agents that work off tickets. */
export const crewRoutes = {
  getCrew: route({
    name: "getCrew",
    method: "GET",
    path: "/v1/projects/:project/crew",
    summary: "Show a project's agents and the tickets that wait for them",
    access: "read",
    answer: crewWire,
  }),
  runCrew: route({
    name: "runCrew",
    method: "POST",
    path: "/v1/projects/:project/crew/run",
    summary: "Give ready tickets to idle agents from now on",
    access: "human",
    body: record({}, { most: integer(1, 1_000), workflow: shortText(4_000), allowFullPermissions: boolean }),
    answer: crewWire,
  }),
  stopCrew: route({
    name: "stopCrew",
    method: "POST",
    path: "/v1/projects/:project/crew/stop",
    summary: "Give out no more tickets; what is at work goes on",
    access: "human",
    body: record({}),
    answer: crewWire,
  }),
  giveTicket: route({
    name: "giveTicket",
    method: "POST",
    path: "/v1/projects/:project/crew/:agent/assign",
    summary: "Make a task from a ticket, and let an idle agent do it",
    access: "human",
    body: record({ ticket: name }, { workflow: shortText(4_000) }),
    answer: record({ agent: slotWire, task: taskWire, warnings: list(text) }),
  }),
  restartSlot: route({
    name: "restartSlot",
    method: "POST",
    path: "/v1/projects/:project/crew/:agent/kill",
    summary: "End what an agent is at, and put its task back to the beginning",
    access: "human",
    body: record({}),
    answer: changeWire,
  }),
} as const;
