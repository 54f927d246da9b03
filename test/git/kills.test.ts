import { expect, test } from "vitest";
import { killsOf } from "../kill-plan.ts";
import { killMergers } from "./kills/kill-mergers.ts";
import { createStage } from "./stage.ts";

const seed = Number(process.env.SIGNALBOX_SEED ?? 3);
const kills = killsOf("publishing", "usual");
const stage = createStage("kills");

test(`merging and publishing can be killed ${kills} times: main has each merge once and complete (seed ${seed})`, async () => {
  const { inTheMiddle } = await killMergers(stage, { seed, kills });
  expect(inTheMiddle).toBeGreaterThan(kills / 2);
});
