import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { changeTicket } from "../../engine/change-ticket.ts";
import { isTicketId, readTicket, type Ticket } from "../../engine/ticket.ts";
import { Fault } from "../../fault.ts";
import type { BrokenTicket, Tickets } from "../../ports/tickets.ts";
import { listFiles, readPlainFile, replaceFile } from "./plain-files.ts";
import { sweepDrafts } from "./sweep-drafts.ts";

const ending = ".md";
const mostTries = 5;
const atOnce = 100;

/** The tickets in a folder of files, in the format of `tk`. No link is followed, neither the folder's nor a file's. */
export function ticketFiles(folder: string): Tickets {
  return {
    place: "file",
    async list() {
      const tickets: Ticket[] = [];
      const broken: BrokenTicket[] = [];
      for (const [place, file] of (await listFiles(folder)).entries()) {
        // Thousands must not keep everybody else waiting.
        if (place % atOnce === atOnce - 1) await setImmediate();
        if (!file.endsWith(ending) || file.startsWith(".")) continue;
        const id = file.slice(0, -ending.length);
        const found = isTicketId(id) ? readPlainFile(join(folder, file)) : noId;
        // Deleted since the folder was read.
        if (found === undefined) continue;
        const read = found.ok ? readTicket(id, found.text) : found;
        if (read.ok) tickets.push(read.ticket);
        else broken.push({ file, problem: read.problem });
      }
      return { tickets, broken };
    },
    async get(id) {
      return (await readOne(folder, id))?.ticket;
    },
    async change(id, change) {
      for (let tries = 0; tries < mostTries; tries++) {
        const found = await readOne(folder, id);
        if (found === undefined) throw missing(folder, id);
        sweepDrafts(found.path);
        const text = changeTicket(found.text, change);
        // Somebody else may have written it meanwhile: then what they wrote is changed instead.
        if (text === found.text || (await replaceFile(found.path, found.text, text)))
          return parsed(found.path, id, text);
      }
      throw new Fault("ticket.changing", `${join(folder, id + ending)} is written by somebody else all the time.`, {
        retry: "later",
        hint: "Try again.",
      });
    },
  };
}

const noId = { ok: false, problem: "Its name has something else in it than letters, digits, dots, - and _." } as const;

interface Found {
  readonly path: string;
  readonly text: string;
  readonly ticket: Ticket;
}

async function readOne(folder: string, id: string): Promise<Found | undefined> {
  if (!isTicketId(id) || !(await listFiles(folder)).includes(id + ending)) return undefined;
  const path = join(folder, id + ending);
  const found = readPlainFile(path);
  if (found === undefined) return undefined;
  if (!found.ok) throw bad(path, found.problem);
  return { path, text: found.text, ticket: parsed(path, id, found.text) };
}

function parsed(path: string, id: string, text: string): Ticket {
  const read = readTicket(id, text);
  if (!read.ok) throw bad(path, read.problem);
  return read.ticket;
}

function bad(path: string, problem: string): Fault {
  return new Fault("ticket.broken", `${path} cannot be used. ${problem}`, { hint: "Mend it; nobody else writes it." });
}

function missing(folder: string, id: string): Fault {
  return new Fault("ticket.missing", `There is no ticket ${JSON.stringify(id)} in ${folder}.`, {
    hint: "Another branch may be checked out there. See those that are: signalbox ticket list",
  });
}
