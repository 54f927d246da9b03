import { test } from "vitest";
import { killBusyDaemons } from "./kill-daemons.ts";

const seed = Number(process.env.SIGNALBOX_SEED ?? 7);

test(
  `a busy daemon that is killed 30 times loses no answer, skips no hook and breaks no history (seed ${seed})`,
  {
    timeout: 150_000,
  },
  () => killBusyDaemons({ seed, kills: 30, tasks: 6, askersEach: 2 }),
);
