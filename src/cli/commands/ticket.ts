import { buildRouteMap } from "@stricli/core";
import type { BodyOf } from "../../api/client.ts";
import { routes } from "../../api/routes.ts";
import type { TicketView } from "../../api/tickets.ts";
import { shellWord } from "../../shell-quote.ts";
import { ticketTroubles } from "../../tickets/ready-tickets.ts";
import { createCall } from "../connect.ts";
import type { Context } from "../context.ts";
import { findProject, findProjectToShow } from "../find.ts";
import { writeTable } from "../tables.ts";
import { writeJson } from "../text.ts";
import { command, type FlagsOf } from "./command.ts";
import { flag, json, project, projectToShow } from "./parameters.ts";

/** A ticket, as the API returns it. */
const ticketForm = `{ id, status, title, type, priority, deps, blockers, links, created, assignee, labels, parent, isReady, task,
  isTaken, place }`;

const ticketExitCodes = (failed: string) => `Exit codes: 0 ok, 1 ${failed}, 2 wrong usage, 3 no such ticket or project`;

export const ticket = { parse: String, placeholder: "TICKET", brief: "A ticket: its id, or a part of it" } as const;

const oneTicket = { kind: "tuple", parameters: [ticket] } as const;

type Change = BodyOf<typeof routes.changeTicket>;

const ticketFlags = { project, json } as const;

type TicketFlags = FlagsOf<typeof ticketFlags>;

const start = command({
  parameters: { positional: oneTicket, flags: ticketFlags },
  docs: {
    brief: "Mark a ticket as in progress",
    fullDescription: `Its status becomes in_progress, as with tk start. Agents get tickets from signalbox crew and signalbox task create --ticket; these do not change the status until the work is merged.

--json: ${ticketForm}
${ticketExitCodes("its file cannot be written")}`,
  },
  async func(flags, reference) {
    await change(this, flags, reference, { status: "in_progress" });
  },
});

const close = command({
  parameters: { positional: oneTicket, flags: ticketFlags },
  docs: {
    brief: "Close a ticket that you have done",
    fullDescription: `Does the same as tk close. A ticket that a task works on cannot be closed: the task closes it when its work is merged.

--json: ${ticketForm}
${ticketExitCodes("a task works on it, or its file cannot be written")}`,
  },
  async func(flags, reference) {
    await change(this, flags, reference, { status: "closed" });
  },
});

const reopen = command({
  parameters: { positional: oneTicket, flags: ticketFlags },
  docs: {
    brief: "Reopen a ticket",
    fullDescription: `--json: ${ticketForm}
${ticketExitCodes("its file cannot be written")}`,
  },
  async func(flags, reference) {
    await change(this, flags, reference, { status: "open" });
  },
});

const note = command({
  parameters: {
    positional: { kind: "tuple", parameters: [ticket, { parse: String, placeholder: "TEXT", brief: "The note" }] },
    flags: ticketFlags,
  },
  docs: {
    brief: "Add a note to a ticket",
    fullDescription: `The note goes under "## Notes", with the time, as with tk add-note. A note that is already there is not added again.

--json: ${ticketForm}
${ticketExitCodes("its file cannot be written")}`,
  },
  async func(flags, reference, text) {
    await change(this, flags, reference, { note: text });
  },
});

async function change(context: Context, flags: TicketFlags, reference: string, body: Change): Promise<void> {
  const call = createCall(context);
  const { name: project } = await findProject(call, flags.project);
  const params = { project, ticket: reference };
  const before = await call(routes.getTicket, { params });
  const ticket = await call(routes.changeTicket, { params, body });
  if (flags.json) return context.print(writeJson(ticket));
  context.print(`${ticket.id}  ${ticket.status}`);
  if (body.status !== undefined && before.status === body.status)
    return context.say("It already has this status. Nothing has changed.");
  const isNote = body.note !== undefined && ticket.place === "file";
  if (isNote && (await call(routes.getTicket, { params })).body === before.body)
    return context.say("It already has this note. Nothing has changed.");
  context.say(ticket.place === "file" ? "Its file has changed, and is not committed." : "Its issue has changed.");
}

const listFlags = {
  ready: flag("Only tickets that can be worked on now"),
  all: flag("Also list closed tickets"),
  project: projectToShow,
  json,
} as const;

type ListFlags = FlagsOf<typeof listFlags>;

const list = command({
  parameters: {
    flags: listFlags,
  },
  docs: {
    brief: "List the tickets of a project, the most urgent first",
    fullDescription: `Tickets are the files .tickets/*.md in the project's folder, in the format of tk, or the issues of its repository on GitHub that have a label (the keys tickets and tickets_label of the configuration). A ticket is ready when it is open or in progress, and everything in its deps is closed. Invalid files are reported, and never written.

--json: { tickets: [${ticketForm}], broken: [{ file, problem }], place }
${ticketExitCodes("failed")}`,
  },
  async func(flags) {
    const call = createCall(this);
    const { name: project, path } = await findProjectToShow(call, flags.project);
    const answer = await call(routes.listTickets, { params: { project } });
    const { broken, place } = answer;
    const tickets = answer.tickets.filter((each) =>
      flags.ready ? each.isReady : flags.all || each.status !== "closed",
    );
    if (flags.json) return this.print(writeJson({ tickets, broken, place }));
    if (tickets.length > 0) this.print(writeTickets(this, tickets));
    else this.say(whyEmpty(flags, answer.tickets, place, path));
    for (const { file, problem } of broken)
      this.say(`${this.talkPaint.yellow("not read:")} .tickets/${file}. ${problem}`);
    // On GitHub, a missing dependency may be an issue without the label, so only files are checked.
    if (place === "file")
      for (const text of ticketTroubles(answer.tickets)) this.say(`${this.talkPaint.yellow("warning:")} ${text}`);
  },
});

function writeTickets(context: Context, tickets: readonly TicketView[]): string {
  const columns = [
    { title: "TICKET", paint: context.paint.bold },
    { title: "P", align: "right" },
    { title: "STATUS" },
    { title: "TASK" },
    { title: "WAITS FOR" },
    { title: "TITLE", isText: true },
  ] as const;
  const rows = tickets.map(({ id, priority, status, task, blockers, title }) => [
    id,
    String(priority),
    status,
    task || "–",
    blockers.join(", ") || "–",
    title || "–",
  ]);
  return writeTable(columns, rows, context.tableWidth);
}

function whyEmpty(
  { ready, all }: ListFlags,
  tickets: readonly TicketView[],
  place: TicketView["place"],
  path: string,
): string {
  if (tickets.length === 0 && place === "issue")
    return "No issue has the label that makes it a ticket. To see that label: signalbox config get tickets_label";
  if (tickets.length === 0) return howToWrite(`${path}/.tickets`);
  const unfinished = tickets.some(({ status }) => status !== "closed");
  if (!unfinished && !all) return "All tickets are closed. To see them: signalbox ticket list --all";
  return ready ? "No ticket is ready. To see what they wait for: signalbox ticket list" : "There are no tickets.";
}

/** Commands that write a minimal ticket, to copy. */
function howToWrite(folder: string): string {
  const text = "---\\nstatus: open\\n---\\n# What is to be done\\n";
  return [
    `There are no tickets in ${folder}. To write one:`,
    `  mkdir -p ${shellWord(folder)}`,
    `  printf -- '${text}' > ${shellWord(`${folder}/first.md`)}`,
  ].join("\n");
}

const show = command({
  parameters: { positional: oneTicket, flags: { project: projectToShow, json } },
  docs: {
    brief: "Show a ticket",
    fullDescription: `--json: a ticket as in signalbox ticket list, with its body
${ticketExitCodes("its file cannot be read, or the name is ambiguous")}`,
  },
  async func(flags, reference) {
    const call = createCall(this);
    const { name: project } = await findProjectToShow(call, flags.project);
    const ticket = await call(routes.getTicket, { params: { project, ticket: reference } });
    if (flags.json) return this.print(writeJson(ticket));
    const lines = [
      ["ticket", ticket.id],
      ["status", ticket.status],
      ["priority", String(ticket.priority)],
      ["type", ticket.type],
      ["assignee", ticket.assignee],
      ["labels", ticket.labels.join(", ")],
      ["parent", ticket.parent],
      ["depends on", ticket.deps.join(", ")],
      ["waits for", ticket.blockers.join(", ")],
      ["links", ticket.links.join(", ")],
      ["created", ticket.created],
      ["task", ticket.task && `${ticket.task}${ticket.isTaken ? "" : " (over)"}`],
    ];
    for (const [name = "", value = ""] of lines) if (value !== "") this.print(`${name.padEnd(12)}${value}`);
    if (ticket.body.trim() !== "") this.print(`\n${ticket.body.trim()}`);
    if (ticket.isReady && !ticket.isTaken)
      this.say(`\nTo let an agent work on it: signalbox task create --ticket ${ticket.id}`);
  },
});

export const ticketCommands = buildRouteMap({
  routes: { list, show, start, close, reopen, note },
  aliases: { ls: "list" },
  docs: { brief: "List and change tickets, the files or issues that tasks are made from" },
});
