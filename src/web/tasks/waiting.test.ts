import { expect, test } from "vitest";
import { hasMovedOn } from "./waiting.ts";

test("actions that were read of an earlier state of a task are behind its row", () => {
  const read = { revision: 4, status: "planning" };
  expect(hasMovedOn(read, { revision: 9, status: "reviewing" })).toBe(true);
  // The task was read after the list, was only marked as seen, or has left the list.
  expect(hasMovedOn({ revision: 9, status: "reviewing" }, read)).toBe(false);
  expect(hasMovedOn(read, { revision: 5, status: "planning" })).toBe(false);
  expect(hasMovedOn(read, undefined)).toBe(false);
});
