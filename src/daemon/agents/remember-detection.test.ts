import { expect, test } from "vitest";
import type { Detected, Harness } from "../../ports/harness.ts";
import { cacheDetection } from "./harnesses.ts";

const found: Detected = { found: true, version: "1.0", path: "/usr/bin/agent" } as Detected;

function asked(answers: (() => Promise<Detected>)[]) {
  let now = 1_000_000;
  const remember = cacheDetection({ now: () => now } as never);
  let times = 0;
  const harness = remember({ detect: () => answers[Math.min(times++, answers.length - 1)]?.() } as unknown as Harness);
  return { harness, times: () => times, pass: (ms: number) => (now += ms) };
}

test("an installed program is asked for its version once in ten minutes", async () => {
  const { harness, times, pass } = asked([async () => found]);
  await harness.detect();
  pass(600_000);
  expect(await harness.detect()).toEqual(found);
  expect(times()).toBe(1);
  pass(1);
  await harness.detect();
  expect(times()).toBe(2);
});

test("a clock that was set back does not keep an old answer in the cache", async () => {
  const { harness, times, pass } = asked([async () => found]);
  await harness.detect();
  pass(-700_000);
  await harness.detect();
  expect(times()).toBe(2);
});

test("a program that was missing or could not be asked is asked again", async () => {
  const { harness } = asked([
    async () => ({ found: false }) as Detected,
    async () => {
      throw new Error("too many open files");
    },
    async () => found,
  ]);
  expect(await harness.detect()).toEqual({ found: false });
  await expect(harness.detect()).rejects.toThrow("too many open files");
  expect(await harness.detect()).toEqual(found);
});
