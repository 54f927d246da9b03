import { expect, test } from "vitest";
import { ticketTroubles } from "./ticket-troubles.ts";

const ticket = (id: string, deps: readonly string[] = [], status = "open") => ({ id, deps, status });

test("tickets that become ready one after the other are no trouble", () => {
  expect(
    ticketTroubles([ticket("c"), ticket("b", ["c"]), ticket("a", ["b", "d"]), ticket("d", ["x"], "closed")]),
  ).toEqual([]);
});

test("who waits for a ticket that is not there is told, with its name", () => {
  expect(ticketTroubles([ticket("a", ["gone"])])).toEqual(["a waits for gone, and there is no such ticket."]);
});

test("those that wait for each other are told, and not those before and behind them", () => {
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
  // A circle that somebody has closed a part of is none any more.
  expect(ticketTroubles([ticket("a", ["b"]), ticket("b", ["a"], "closed")])).toEqual([]);
});
