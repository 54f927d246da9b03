import { test } from "vitest";
import { killMergingDaemons } from "./kill-merges.ts";

const seed = Number(process.env.SIGNALBOX_SEED ?? 11);

test(
  `a daemon that is killed 4 times while it merges loses nothing and merges nothing twice (seed ${seed})`,
  { timeout: 150_000 },
  () => killMergingDaemons({ seed, kills: 4, tasksEach: 2 }),
);
