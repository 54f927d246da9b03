import { routes } from "../../../api/routes.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findProject } from "../../find-project.ts";
import { writeJson } from "../../write-json.ts";
import type { TicketFlags } from "./show.ts";

type Change = { readonly status: "open" | "in_progress" | "closed" } | { readonly note: string };

export async function start(this: Context, flags: TicketFlags, reference: string) {
  await change(this, flags, reference, { status: "in_progress" });
}

export async function close(this: Context, flags: TicketFlags, reference: string) {
  await change(this, flags, reference, { status: "closed" });
}

export async function reopen(this: Context, flags: TicketFlags, reference: string) {
  await change(this, flags, reference, { status: "open" });
}

export async function note(this: Context, flags: TicketFlags, reference: string, text: string) {
  await change(this, flags, reference, { note: text });
}

async function change(context: Context, flags: TicketFlags, reference: string, body: Change): Promise<void> {
  const call = createCall(context);
  const { name: project } = await findProject(call, flags.project);
  const params = { project, ticket: reference };
  const before = await call(routes.getTicket, { params });
  const ticket = await call(routes.changeTicket, { params, body });
  if (flags.json) return context.print(writeJson(ticket));
  context.print(`${ticket.id}  ${ticket.status}`);
  if ("status" in body && before.status === body.status)
    return context.say("It was that already. Nothing has changed.");
  const isNote = "note" in body && ticket.place === "file";
  if (isNote && (await call(routes.getTicket, { params })).body === before.body)
    return context.say("It was noted already. Nothing has changed.");
  context.say(ticket.place === "file" ? "Its file has changed, and is not committed." : "Its issue has changed.");
}
