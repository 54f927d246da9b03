import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { throttled } from "./throttle.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("many calls become one, and one that comes while it runs leads to exactly one more", async () => {
  let count = 0;
  let finish: () => void = () => undefined;
  const ask = throttled(1_000, () => {
    count++;
    return new Promise<void>((resolve) => {
      finish = resolve;
    });
  });
  for (let i = 0; i < 3; i++) ask();
  await vi.advanceTimersByTimeAsync(60);
  expect(count).toBe(1);
  for (let i = 0; i < 3; i++) ask();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(count).toBe(1);
  finish();
  await vi.advanceTimersByTimeAsync(60);
  expect(count).toBe(2);
  finish();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(count).toBe(2);
});

test("a run that ends at once, or fails, is not repeated before the interval is over", async () => {
  let count = 0;
  const ask = throttled(1_000, async () => {
    count++;
    throw new Error("refused");
  });
  ask();
  await vi.advanceTimersByTimeAsync(60);
  ask();
  await vi.advanceTimersByTimeAsync(900);
  expect(count).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(count).toBe(2);
});
