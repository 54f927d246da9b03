import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findProjectToShow } from "../../find-project.ts";
import { writeJson } from "../../write-json.ts";

export interface TicketFlags {
  readonly project?: string;
  readonly json: boolean;
}

export async function show(this: Context, flags: TicketFlags, reference: string) {
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
}
