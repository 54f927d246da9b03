import { routes } from "../../../api/routes.ts";
import type { TicketView } from "../../../api/ticket-routes.ts";
import { ticketTroubles } from "../../../engine/ticket-troubles.ts";
import { createCall } from "../../connect.ts";
import type { Context } from "../../context.ts";
import { findProjectToShow } from "../../find-project.ts";
import { shellWord } from "../../shell-word.ts";
import { writeTable } from "../../table.ts";
import { writeJson } from "../../write-json.ts";

export interface ListFlags {
  readonly ready: boolean;
  readonly all: boolean;
  readonly project?: string;
  readonly json: boolean;
}

export async function list(this: Context, flags: ListFlags) {
  const call = createCall(this);
  const { name: project, path } = await findProjectToShow(call, flags.project);
  const answer = await call(routes.listTickets, { params: { project } });
  const { broken, place } = answer;
  const tickets = answer.tickets.filter((each) => (flags.ready ? each.isReady : flags.all || each.status !== "closed"));
  if (flags.json) return this.print(writeJson({ tickets, broken, place }));
  if (tickets.length > 0) this.print(writeTickets(this, tickets));
  else this.say(whyEmpty(flags, answer.tickets, place, path));
  for (const { file, problem } of broken)
    this.say(`${this.talkPaint.yellow("not read:")} .tickets/${file}. ${problem}`);
  // Of a dependency that is not there nobody can tell here whether it is an issue without the label.
  if (place === "file")
    for (const text of ticketTroubles(answer.tickets)) this.say(`${this.talkPaint.yellow("warning:")} ${text}`);
}

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
    return "No issue has the label that makes it a ticket. To see which that is: signalbox config get tickets_label";
  if (tickets.length === 0) return howToWrite(`${path}/.tickets`);
  const unfinished = tickets.some(({ status }) => status !== "closed");
  if (!unfinished && !all) return "All tickets are closed. To see them: signalbox ticket list --all";
  return ready ? "No ticket is ready. To see what they wait for: signalbox ticket list" : "There is none.";
}

/** A ticket is a file: the least that one has to say, as commands to copy. */
function howToWrite(folder: string): string {
  const text = "---\\nstatus: open\\n---\\n# What is to be done\\n";
  return [
    `There are no tickets in ${folder}. To write one:`,
    `  mkdir -p ${shellWord(folder)}`,
    `  printf -- '${text}' > ${shellWord(`${folder}/first.md`)}`,
  ].join("\n");
}
