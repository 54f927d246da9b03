import { test } from "vitest";
import { killMergingDaemons } from "../faults/kill-merges.ts";
import { killsOf } from "../kill-plan.ts";

// Like test/faults/merge-kills.test.ts, with larger numbers. SIGNALBOX_SEED chooses another seed.

const seed = Number(process.env.SIGNALBOX_SEED ?? 1_000_000);
const kills = killsOf("merging", "long");

test(`a daemon that is killed ${kills} times while it merges loses nothing and merges nothing twice (seed ${seed})`, () =>
  killMergingDaemons({ seed, kills, tasksEach: 3 }));
