import { test } from "vitest";
import { liveAtRandom } from "../faults/crew/random-crew.ts";
import { killsOf } from "../kill-plan.ts";

// Like test/faults/crew-random.test.ts, with more kills. SIGNALBOX_SEED chooses another seed.

const first = Number(process.env.SIGNALBOX_SEED ?? 1_000_000);
const kills = killsOf("random", "long");
const seeds = [first, first + 1, first + 2, first + 3];

test.each(seeds)(
  `the invariants of a crew hold in a random sequence of operations, with the daemon killed ${kills / seeds.length} times (seed %i)`,
  async (seed) => {
    await liveAtRandom({ seed, kills: kills / seeds.length });
  },
);
