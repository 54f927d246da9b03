import { expect, test } from "vitest";
import { givingOrder } from "./giving-order.ts";
import { readTicket, type Ticket } from "./ticket.ts";

const ticket = (id: string, deps: readonly string[] = [], more = "status: open"): Ticket => {
  const read = readTicket(id, `---\nid: ${id}\n${more}\ndeps: [${deps.join(", ")}]\n---\n# ${id}\n`);
  if (!read.ok) throw new Error(read.problem);
  return read.ticket;
};
const ordered = (...tickets: readonly Ticket[]) => givingOrder(tickets).map(({ id }) => id);

test("what the longest chain waits for comes first; else the order is that of the ids", () => {
  const chain = [ticket("d"), ticket("e", ["d"]), ticket("f", ["e"]), ticket("b"), ticket("g", ["b"])];
  expect(ordered(ticket("a"), ...chain, ticket("c"))).toEqual(["d", "b", "a", "c"]);
});

test("urgency counts more than any chain, and what is closed waits for nothing", () => {
  expect(ordered(ticket("a"), ticket("b", ["a"]), ticket("c", [], "status: open\npriority: 0"))).toEqual(["c", "a"]);
  expect(ordered(ticket("a"), ticket("b"), ticket("c", ["b"], "status: closed"))).toEqual(["a", "b"]);
});

test("tickets that wait for each other, or for themselves, are in nobody's way", () => {
  expect(ordered(ticket("a"), ticket("b", ["c"]), ticket("c", ["b"]), ticket("d", ["d"]))).toEqual(["a"]);
});
