import { expect, test } from "vitest";
import { blockersOf, readyTickets } from "./ready-tickets.ts";
import { readTicket, type Ticket } from "./ticket.ts";

test("unfinished tickets without open dependencies are ready, the most urgent first", () => {
  const all = [
    ticket("a", "status: open"),
    ticket("b", "status: in_progress"),
    ticket("c", "status: closed"),
    ticket("d", "status: open\ndeps: [c]\npriority: 0"),
    ticket("e", "status: open\ndeps: [c, a]\npriority: 0"),
    ticket("f", "status: needs_testing"),
    ticket("g", "status: open\ndeps: [gone]"),
  ];
  expect(readyTickets(all).map(({ id }) => id)).toEqual(["d", "a", "b"]);
  expect(all.map((each) => blockersOf(each, all))).toEqual([[], [], [], [], ["a"], [], ["gone"]]);
});

test("tickets that wait for each other are never ready", () => {
  const all = [ticket("a", "status: open\ndeps: [b]"), ticket("b", "status: open\ndeps: [a]")];
  expect(readyTickets(all)).toEqual([]);
});

function ticket(id: string, fields: string): Ticket {
  const read = readTicket(id, `---\n${fields}\n---\n`);
  if (!read.ok) throw new Error(read.problem);
  return read.ticket;
}
