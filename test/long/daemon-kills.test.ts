import { test } from "vitest";
import { killBusyDaemons } from "../faults/kill-daemons.ts";
import { killsOf } from "../kill-plan.ts";

// Like test/faults/kills.test.ts, with larger numbers. SIGNALBOX_SEED chooses another seed.

const seed = Number(process.env.SIGNALBOX_SEED ?? 1_000_000);
const kills = killsOf("busy", "long");

test(`a busy daemon that is killed ${kills} times loses no answer, skips no hook and breaks no history (seed ${seed})`, () =>
  killBusyDaemons({ seed, kills, tasks: 8, askersEach: 2 }));
