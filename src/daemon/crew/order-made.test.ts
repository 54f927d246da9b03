import { expect, test } from "vitest";
import type { Agent } from "../../ports/records.ts";
import { orderMade } from "../agents/roster.ts";

test("agents are sorted by creation time, and those that were created together by name", () => {
  const agents = [
    ["AA", 1],
    ["B", 1],
    ["Late", 2],
    ["A", 3],
    ["Z", 1],
  ].map(([name, at]) => ({ id: `tea/${name}`, at }) as Agent);
  expect(agents.toSorted(orderMade).map(({ id }) => id)).toEqual(["tea/B", "tea/Z", "tea/AA", "tea/Late", "tea/A"]);
});
