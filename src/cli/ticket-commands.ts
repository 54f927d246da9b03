import { buildCommand, buildRouteMap } from "@stricli/core";
import { flag, json } from "./parameters.ts";
import { project, projectToShow } from "./task-parameters.ts";

/** A ticket on the wire. */
const ticketForm = `{ id, status, title, type, priority, deps, blockers, links, created, assignee, parent, isReady, task,
  isTaken, place }`;
const exitCodes = (failed: string) => `Exit codes: 0 ok, 1 ${failed}, 2 wrong usage, 3 no such ticket or project`;

export const ticket = { parse: String, placeholder: "TICKET", brief: "A ticket: its id, or a part of it" } as const;
const oneTicket = { kind: "tuple", parameters: [ticket] } as const;

const list = buildCommand({
  loader: async () => (await import("./commands/ticket/list.ts")).list,
  parameters: {
    flags: {
      ready: flag("Only those on which work can begin or go on"),
      all: flag("Also those that are closed"),
      project: projectToShow,
      json,
    },
  },
  docs: {
    brief: "List the tickets of a project, the most urgent first",
    fullDescription: `Tickets are the files .tickets/*.md in the project's folder, in the format of tk, or the issues of its repository on GitHub that have a label (the keys tickets and tickets_label of the configuration). A ticket is ready when it is open or in progress, and everything in its deps is closed. Files that cannot be read as a ticket are named, and never written.

--json: { tickets: [${ticketForm}], broken: [{ file, problem }], place }
${exitCodes("failed")}`,
  },
});

const show = buildCommand({
  loader: async () => (await import("./commands/ticket/show.ts")).show,
  parameters: { positional: oneTicket, flags: { project: projectToShow, json } },
  docs: {
    brief: "Show a ticket",
    fullDescription: `--json: a ticket as in signalbox ticket list, with its body
${exitCodes("its file cannot be read, or another one could be meant")}`,
  },
});

const start = buildCommand({
  loader: async () => (await import("./commands/ticket/change.ts")).start,
  parameters: { positional: oneTicket, flags: { project, json } },
  docs: {
    brief: "Say that you work on a ticket",
    fullDescription: `Its status becomes in_progress, as with tk start. Agents get their tickets from signalbox crew and signalbox task create --ticket; those leave the status as it is until the work is merged.

--json: ${ticketForm}
${exitCodes("its file cannot be written")}`,
  },
});

const close = buildCommand({
  loader: async () => (await import("./commands/ticket/change.ts")).close,
  parameters: { positional: oneTicket, flags: { project, json } },
  docs: {
    brief: "Close a ticket that you have done",
    fullDescription: `As tk close. A ticket on which a task works cannot be closed: the task does it when its work is merged.

--json: ${ticketForm}
${exitCodes("a task works on it, or its file cannot be written")}`,
  },
});

const reopen = buildCommand({
  loader: async () => (await import("./commands/ticket/change.ts")).reopen,
  parameters: { positional: oneTicket, flags: { project, json } },
  docs: {
    brief: "Open a ticket again",
    fullDescription: `--json: ${ticketForm}
${exitCodes("its file cannot be written")}`,
  },
});

const note = buildCommand({
  loader: async () => (await import("./commands/ticket/change.ts")).note,
  parameters: {
    positional: { kind: "tuple", parameters: [ticket, { parse: String, placeholder: "TEXT", brief: "What is noted" }] },
    flags: { project, json },
  },
  docs: {
    brief: "Add a note to a ticket",
    fullDescription: `It goes under "## Notes", with the time, as with tk add-note. A note that is there already is not added again.

--json: ${ticketForm}
${exitCodes("its file cannot be written")}`,
  },
});

export const ticketCommands = buildRouteMap({
  routes: { list, show, start, close, reopen, note },
  aliases: { ls: "list" },
  docs: { brief: "Look at tickets, the files or issues that tasks are made from" },
});
