import { expect, test } from "vitest";
import { givingOrder } from "./ready-tickets.ts";
import { readTicket, type Ticket } from "./ticket.ts";

const ticket = (id: string, deps: readonly string[] = [], more = "status: open"): Ticket => {
  const read = readTicket(id, `---\nid: ${id}\n${more}\ndeps: [${deps.join(", ")}]\n---\n# ${id}\n`);
  if (!read.ok) throw new Error(read.problem);
  return read.ticket;
};
const ordered = (...tickets: readonly Ticket[]) => givingOrder(tickets).map(({ id }) => id);

test("the ticket with the longest chain behind it comes first; else tickets are ordered by id", () => {
  const chain = [ticket("d"), ticket("e", ["d"]), ticket("f", ["e"]), ticket("b"), ticket("g", ["b"])];
  expect(ordered(ticket("a"), ...chain, ticket("c"))).toEqual(["d", "b", "a", "c"]);
});

test("urgency counts more than any chain, and closed tickets are not part of chains", () => {
  expect(ordered(ticket("a"), ticket("b", ["a"]), ticket("c", [], "status: open\npriority: 0"))).toEqual(["c", "a"]);
  expect(ordered(ticket("a"), ticket("b"), ticket("c", ["b"], "status: closed"))).toEqual(["a", "b"]);
});

test("tickets that wait for each other, or for themselves, do not affect the others", () => {
  expect(ordered(ticket("a"), ticket("b", ["c"]), ticket("c", ["b"]), ticket("d", ["d"]))).toEqual(["a"]);
});
