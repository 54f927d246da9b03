import { expect, test } from "vitest";
import { killsOf } from "../kill-plan.ts";
import { liveAtRandom } from "./crew/random-crew.ts";

const seed = Number(process.env.SIGNALBOX_SEED ?? 5);
const kills = killsOf("random", "usual");

test(`in a random sequence of crew operations, with the daemon killed ${kills} times,the eight invariants hold, and every ticket is done once (seed ${seed})`, {
  timeout: 240_000,
}, async () => {
  const done = await liveAtRandom({ seed, kills });
  expect(new Set(done).size).toBeGreaterThan(3);
});
