import { test } from "vitest";
import { liveAtRandom } from "../faults/crew/random-crew.ts";
import { killsOf } from "../kill-plan.ts";

// The same as test/faults/crew-random.test.ts, with more kills. SIGNALBOX_SEED draws other lives.

const first = Number(process.env.SIGNALBOX_SEED ?? 1_000_000);
const kills = killsOf("random", "long");
const seeds = [first, first + 1, first + 2, first + 3];

test.each(seeds)(
  `whatever a crew does, killed ${kills / seeds.length} times, its invariants hold (seed %i)`,
  async (seed) => {
    await liveAtRandom({ seed, kills: kills / seeds.length });
  },
);
