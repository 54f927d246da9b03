import { expect, test } from "vitest";
import type { Agent } from "../../ports/records.ts";
import { orderMade } from "./order-made.ts";

test("agents come in the order in which they were made, and those that were made together by their names", () => {
  const agents = [
    ["AA", 1],
    ["B", 1],
    ["Late", 2],
    ["A", 3],
    ["Z", 1],
  ].map(([name, at]) => ({ id: `tea/${name}`, at }) as Agent);
  expect(agents.toSorted(orderMade).map(({ id }) => id)).toEqual(["tea/B", "tea/Z", "tea/AA", "tea/Late", "tea/A"]);
});
