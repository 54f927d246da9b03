import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planFaults } from "../../src/testing/simulator/faults.ts";
import { live } from "../../src/testing/simulator/live.ts";
import { readSimulated, simulateFaults } from "../../src/testing/simulator/simulate-faults.ts";

const [first, ...others] = ["default", "classic", "minimal", "crew"].map((name) =>
  readSimulated(name, readFileSync(join(import.meta.dirname, "..", "..", "workflows", `${name}.yml`), "utf8")),
);
if (first === undefined) throw new Error("There is no workflow.");
const workflows = [first, ...others];
const count = Number(process.env.SIGNALBOX_SEEDS ?? 60);

test(`in ${count} lives in which everything goes wrong every promise is kept`, async () => {
  const seeds = Array.from({ length: count }, (_, index) => index + 1);
  const { found, lives, deaths, ended } = await simulateFaults(workflows, seeds);
  expect(found).toEqual([]);
  expect(lives).toBe(count);
  // A simulator in which nothing happens keeps every promise.
  expect(deaths).toBeGreaterThan(count / 2);
  expect(ended).toBeGreaterThan(count / 2);
}, 600_000);

test("the same seed gives the same life", async () => {
  for (const chosen of workflows) {
    const order = { seed: 7, faults: planFaults(7), ...chosen };
    const once = await live(order);
    expect((await live(order)).hash).toBe(once.hash);
    expect((await live({ ...order, seed: 8 })).hash).not.toBe(once.hash);
  }
});

test("a full disk does not keep a daemon busy that has a message to deliver", async () => {
  const faults = [{ kind: "full", at: 21_051, milliseconds: 83_717 }] as const;
  const { violations, calls } = await live({ seed: 396, faults, ...first });
  expect(violations).toEqual([]);
  expect(calls).toBeLessThan(20_000);
});
