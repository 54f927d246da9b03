import { expect, test } from "vitest";
import { createErrorLog } from "./error-log.ts";

function stage() {
  const lines: unknown[] = [];
  const clock = { time: 1_000, now: () => clock.time };
  const log = createErrorLog({ error: (_, fields) => void lines.push(fields) }, clock);
  return { lines, clock, log };
}

test("a repeated error is logged once, and an hour later with a count", () => {
  const { lines, clock, log } = stage();
  const error = new Error("TASK.md is a folder.");
  for (let i = 0; i < 500; i++) log(error);
  expect(lines).toEqual([{ error }]);
  clock.time += 3_600_000;
  log(error);
  expect(lines).toEqual([{ error }, { error, repeated: 499 }]);
});

test("every different error is logged", () => {
  const { lines, log } = stage();
  for (let i = 0; i < 500; i++) log(new Error(`Task ${i} fails.`));
  expect(lines).toHaveLength(500);
});

test("an error that was not repeated is logged without a count, even if the clock was set back", () => {
  const { lines, clock, log } = stage();
  const error = new Error("TASK.md is a folder.");
  for (const time of [10_000_000, 20_000_000, 1_000]) {
    clock.time = time;
    log(error);
  }
  expect(lines).toEqual([{ error }, { error }, { error }]);
});

test("the oldest error is forgotten when there are too many different ones", () => {
  const { lines, log } = stage();
  for (let i = 0; i < 201; i++) log(new Error(`Task ${i} fails.`));
  log(new Error("Task 200 fails."));
  expect(lines).toHaveLength(201);
  log(new Error("Task 0 fails."));
  expect(lines).toHaveLength(202);
});
