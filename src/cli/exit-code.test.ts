import { expect, test } from "vitest";
import { Fault } from "../fault.ts";
import { exitCodeOfError } from "./exit-code.ts";

test.each([
  ["usage", 2],
  ["task.missing", 3],
  ["agent.missing", 3],
  // The person has named something else, and that is there.
  ["terminal.missing", 1],
  ["git.missing", 1],
  ["merge.uncommitted", 1],
])("%s ends with %i", (code, expected) => {
  expect(exitCodeOfError(new Fault(code, "What is wrong."))).toBe(expected);
});
