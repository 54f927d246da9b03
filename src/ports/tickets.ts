import type { Ticket, TicketChange } from "../tickets/ticket.ts";

/**
 * The tickets of one project. People and `tk` may write them at any time; their changes are never lost.
 * Faults: `ticket.*`, and `forge.*` where they are issues.
 */
export interface Tickets {
  /** What kind of thing each ticket is. */
  readonly place: "file" | "issue";
  /** In the order of their ids. Empty without a folder. */
  list(): Promise<TicketList>;
  /** Undefined if there is no such ticket. A broken one is a Fault. */
  get(id: string): Promise<Ticket | undefined>;
  /**
   * Makes this change and no other, atomically. Writes nothing if nothing changes. Removes drafts that a killed process
   * left beside the file.
   */
  change(id: string, change: TicketChange): Promise<Ticket>;
}

export interface TicketList {
  readonly tickets: readonly Ticket[];
  /** Files that cannot be read as tickets. They are never written. */
  readonly broken: readonly BrokenTicket[];
}

export interface BrokenTicket {
  /** The file's name. */
  readonly file: string;
  /** A sentence. */
  readonly problem: string;
}
