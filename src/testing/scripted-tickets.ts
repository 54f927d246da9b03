import { changeTicket } from "../engine/change-ticket.ts";
import { isTicketId, readTicket } from "../engine/ticket.ts";
import { Fault } from "../fault.ts";
import type { Tickets } from "../ports/tickets.ts";

/** Tickets in memory, which fail when they are told to. */
export interface ScriptedTickets extends Tickets {
  /** By the file's name. Tests write them as people do. */
  readonly files: Map<string, string>;
  /** How often something was written. */
  writes(): number;
  /** The next changes fail with these, one after the other. */
  failWith(...errors: readonly Error[]): void;
}

export function createScriptedTickets(): ScriptedTickets {
  const files = new Map<string, string>();
  let failures: readonly Error[] = [];
  let count = 0;
  const read = (id: string) => {
    const text = isTicketId(id) ? files.get(`${id}.md`) : undefined;
    if (text === undefined) return undefined;
    const found = readTicket(id, text);
    if (!found.ok) throw new Fault("ticket.broken", `${id}.md cannot be used. ${found.problem}`);
    return { text, ticket: found.ticket };
  };
  return {
    place: "file",
    files,
    writes: () => count,
    failWith(...errors) {
      failures = errors;
    },
    async list() {
      const names = [...files.keys()].filter((name) => name.endsWith(".md") && !name.startsWith(".")).toSorted();
      const all = names.map((file) => {
        const id = file.slice(0, -3);
        const problem = "Its name has something else in it than letters, digits, dots, - and _.";
        return { file, read: isTicketId(id) ? readTicket(id, files.get(file) ?? "") : { ok: false as const, problem } };
      });
      return {
        tickets: all.flatMap((each) => (each.read.ok ? [each.read.ticket] : [])),
        broken: all.flatMap((each) => (each.read.ok ? [] : [{ file: each.file, problem: each.read.problem }])),
      };
    },
    async get(id) {
      return read(id)?.ticket;
    },
    async change(id, change) {
      const [error, ...rest] = failures;
      failures = rest;
      if (error !== undefined) throw error;
      const found = read(id);
      if (found === undefined) throw new Fault("ticket.missing", `There is no ticket ${JSON.stringify(id)}.`);
      const text = changeTicket(found.text, change);
      if (text !== found.text) {
        files.set(`${id}.md`, text);
        count++;
      }
      return read(id)?.ticket ?? found.ticket;
    },
  };
}
