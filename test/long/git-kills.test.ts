import { expect, test } from "vitest";
import { killMergers } from "../git/kills/kill-mergers.ts";
import { createStage } from "../git/stage.ts";
import { killsOf } from "../kill-plan.ts";

// Like test/git/kills.test.ts, with more kills. SIGNALBOX_SEED chooses another seed.

const seed = Number(process.env.SIGNALBOX_SEED ?? 1_000_000);
const kills = killsOf("publishing", "long");
const stage = createStage("kills-long");

test(`merging and publishing can be killed ${kills} times: main has each merge once and whole (seed ${seed})`, async () => {
  const { inTheMiddle } = await killMergers(stage, { seed, kills });
  expect(inTheMiddle).toBeGreaterThan(kills / 2);
});
