import type { TicketChange } from "../engine/change-ticket.ts";
import type { Ticket } from "../engine/ticket.ts";

/**
 * The tickets of one project. Whoever else writes them, people and `tk`, may do so at any time: nothing of theirs is lost.
 * Faults: `ticket.*`, and `forge.*` where they are issues.
 */
export interface Tickets {
  /** What each of them is. */
  readonly place: "file" | "issue";
  /** In the order of their ids. Without a folder there are none. */
  list(): Promise<TicketList>;
  /** Undefined where there is no such file. A broken one is a fault. */
  get(id: string): Promise<Ticket | undefined>;
  /**
   * Changes that and nothing else, whole or not at all. Where nothing is to change, nothing is written. What somebody left
   * beside the file who was killed while changing it is taken away.
   */
  change(id: string, change: TicketChange): Promise<Ticket>;
}

export interface TicketList {
  readonly tickets: readonly Ticket[];
  /** Files that are no tickets, or not to be read as such. Nobody writes them. */
  readonly broken: readonly BrokenTicket[];
}

export interface BrokenTicket {
  /** The file's name. */
  readonly file: string;
  /** A sentence. */
  readonly problem: string;
}
