import { Fault } from "../fault.ts";
import type { Clock } from "../ports/clock.ts";
import type { Project } from "../ports/store.ts";
import type { TicketList, Tickets } from "../ports/tickets.ts";
import type { ForgeOf } from "./forge/project-forge.ts";

/** The tickets of a project. */
export type TicketsOf = (project: Project) => Tickets;

/** Where there is no way to them. */
export const noTickets: TicketsOf = () => {
  throw new Fault("ticket.unavailable", "This daemon cannot read tickets.");
};

export interface TicketSourcePorts {
  readonly clock: Clock;
  readonly files: TicketsOf;
  readonly forgeOf: ForgeOf;
  /** Read anew every time: the configuration may have changed. */
  choice(project: Project): { readonly tickets: "files" | "github"; readonly ticketsLabel: string };
}

/** A forge is not asked for all its issues whenever an agent is idle. */
const leastPause = 10_000;

/** The tickets of each project, from where its configuration says. */
export function createTicketsOf({ clock, files, forgeOf, choice }: TicketSourcePorts): TicketsOf {
  const kept = new Map<string, { readonly at: number; readonly list: Promise<TicketList> }>();
  return (project) => {
    const { tickets, ticketsLabel: label } = choice(project);
    if (tickets === "files") return files(project);
    const key = `${project.name}\n${label}`;
    const issues = async () => (await forgeOf(project)).forge.ticketsWith?.(label) ?? missing(project);
    return {
      place: "issue",
      list() {
        const found = kept.get(key);
        if (found !== undefined && Math.abs(clock.now() - found.at) < leastPause) return found.list;
        const list = issues().then((source) => source.list());
        kept.set(key, { at: clock.now(), list });
        // What failed is asked for again.
        list.catch(() => kept.delete(key));
        return list;
      },
      get: async (id) => (await issues()).get(id),
      async change(id, change) {
        try {
          return await (await issues()).change(id, change);
        } finally {
          kept.delete(key);
        }
      },
    };
  };
}

function missing({ name, path }: Project): never {
  throw new Fault("ticket.unavailable", `${name} has no GitHub: the remote of ${path} leads to none.`, {
    hint: "Log in with gh auth login, or use files: signalbox config set tickets files",
  });
}

/** The time of a note, as `tk` writes it: to the second. */
export function noteTime(at: number): string {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
}
