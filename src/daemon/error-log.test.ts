import { expect, test } from "vitest";
import { createErrorLog } from "./error-log.ts";

function stage() {
  const lines: unknown[] = [];
  const clock = { time: 1_000, now: () => clock.time };
  const log = createErrorLog({ error: (_, fields) => void lines.push(fields) }, clock);
  return { lines, clock, log };
}

test("an error that comes back is logged once, and an hour later with how often it came meanwhile", () => {
  const { lines, clock, log } = stage();
  const error = new Error("TASK.md is a folder.");
  for (let i = 0; i < 500; i++) log(error);
  expect(lines).toEqual([{ error }]);
  clock.time += 3_600_000;
  log(error);
  expect(lines).toEqual([{ error }, { error, repeated: 499 }]);
});

test("each different error is logged", () => {
  const { lines, log } = stage();
  for (let i = 0; i < 500; i++) log(new Error(`Task ${i} fails.`));
  expect(lines).toHaveLength(500);
});
