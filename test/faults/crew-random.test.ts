import { expect, test } from "vitest";
import { liveAtRandom } from "./crew/random-crew.ts";

const seed = Number(process.env.SIGNALBOX_SEED ?? 5);
const kills = Number(process.env.SIGNALBOX_KILLS ?? 8);

test(`whatever a crew does, killed ${kills} times, its eight invariants hold, and its tickets are done once (seed ${seed})`, {
  timeout: 240_000,
}, async () => {
  const done = await liveAtRandom({ seed, kills });
  expect(new Set(done).size).toBeGreaterThan(3);
});
