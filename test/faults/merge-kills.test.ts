import { test } from "vitest";
import { killsOf } from "../kill-plan.ts";
import { killMergingDaemons } from "./kill-merges.ts";

const seed = Number(process.env.SIGNALBOX_SEED ?? 11);
const kills = killsOf("merging", "usual");

test(
  `a daemon that is killed ${kills} times while it merges loses nothing and merges nothing twice (seed ${seed})`,
  { timeout: 150_000 },
  () => killMergingDaemons({ seed, kills, tasksEach: 2 }),
);
