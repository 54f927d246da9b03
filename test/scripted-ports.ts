import { Fault } from "../src/fault.ts";
import type { Clock, Note, Notifier } from "../src/ports/system.ts";
import type { Tickets } from "../src/ports/tickets.ts";
import { changeTicket, isTicketId, readTicket } from "../src/tickets/ticket.ts";

/** The CPU time of this thread in milliseconds. Unlike wall time, it does not depend on other load of the machine. */
export function ownTime(): number {
  return process.threadCpuUsage().user / 1_000;
}

/** A clock that advances only on demand. */
export interface ScriptedClock extends Clock {
  /** Lets time pass, firing due timers in order. */
  pass(milliseconds: number): Promise<void>;
}

export function createScriptedClock(start = 0): ScriptedClock {
  let now = start;
  let timers: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + Math.max(0, milliseconds), run };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    async pass(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        await settle();
        const next = timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        now = Math.max(now, next.at);
        next.run();
      }
      now = end;
    },
  };
}

/** Lets pending callbacks finish and set their own timers. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A notifier that records its notes, and fails on demand. */
export interface ScriptedNotifier extends Notifier {
  /** All notes, the oldest first, failed ones included. */
  readonly notes: readonly Note[];
  /** The next notes fail with these, one after the other. */
  failWith(...errors: readonly Error[]): void;
}

export function createScriptedNotifier(): ScriptedNotifier {
  const notes: Note[] = [];
  let failures: readonly Error[] = [];
  return {
    notes,
    failWith(...errors) {
      failures = errors;
    },
    async notify(note) {
      notes.push(note);
      const [error, ...rest] = failures;
      failures = rest;
      if (error !== undefined) throw error;
    },
  };
}

/** Tickets in memory, which fail on demand. */
export interface ScriptedTickets extends Tickets {
  /** By the file's name. Tests write them as people do. */
  readonly files: Map<string, string>;
  /** The number of writes. */
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
        const problem = "Its name may contain only letters, digits, dots, - and _.";
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
