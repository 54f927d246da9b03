import { expect, test } from "vitest";
import { ticketTroubles } from "./ready-tickets.ts";

const ticket = (id: string, deps: readonly string[] = [], status = "open") => ({ id, deps, status });

test("tickets that become ready one after the other are not reported", () => {
  expect(
    ticketTroubles([ticket("c"), ticket("b", ["c"]), ticket("a", ["b", "d"]), ticket("d", ["x"], "closed")]),
  ).toEqual([]);
});

test("a ticket with a missing dependency is reported with its name", () => {
  expect(ticketTroubles([ticket("a", ["gone"])])).toEqual(["a waits for gone, and there is no such ticket."]);
});

test("a cycle is reported without the tickets before and after it", () => {
  const before = ticket("first");
  const circle = [ticket("a", ["first", "c"]), ticket("b", ["a"]), ticket("c", ["b"])];
  const told = ["a, b, c wait for each other. Take something out of their deps."];
  expect(ticketTroubles([before, ...circle, ticket("last", ["c"])])).toEqual(told);
  expect(ticketTroubles([ticket("self", ["self"])])).toEqual(["self waits for itself. Take it out of its deps."]);
  const between = [
    ...circle,
    ticket("m", ["a"]),
    ticket("x", ["y", "m"]),
    ticket("y", ["x"]),
    ticket("self", ["self"]),
  ];
  expect(ticketTroubles([before, ...between])).toEqual([
    ...told,
    "x, y wait for each other. Take something out of their deps.",
    "self waits for itself. Take it out of its deps.",
  ]);
  // A cycle with a closed ticket is no longer a cycle.
  expect(ticketTroubles([ticket("a", ["b"]), ticket("b", ["a"], "closed")])).toEqual([]);
});
