import { test } from "vitest";
import { killsOf } from "../kill-plan.ts";
import { killBusyDaemons } from "./kill-daemons.ts";

const seed = Number(process.env.SIGNALBOX_SEED ?? 7);
const kills = killsOf("busy", "usual");

test(
  `a busy daemon that is killed ${kills} times loses no answer, skips no hook and breaks no history (seed ${seed})`,
  {
    timeout: 150_000,
  },
  () => killBusyDaemons({ seed, kills, tasks: 6, askersEach: 2 }),
);
