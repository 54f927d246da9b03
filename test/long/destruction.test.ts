import { describe, expect, test } from "vitest";
import { play } from "../workspaces/destruction/play.ts";
import { createScenes } from "../workspaces/stage.ts";

// Like test/workspaces/destruction.test.ts, with larger numbers. SIGNALBOX_SEED chooses another seed.

const seed = Number(process.env.SIGNALBOX_SEED ?? 1_000_000);
const lives = Number(process.env.SIGNALBOX_LIVES ?? 1_000);
const together = 50;

describe.each(["worktree", "clone"] as const)("%s", (kind) => {
  const { open } = createScenes(kind, "destruction-long");
  for (let first = seed; first < seed + lives; first += together)
    test(`random operations on a pool lose nothing (seeds from ${first})`, async () => {
      for (let each = first; each < first + together; each++) {
        const { steps, lost, stuck } = await play(await open(), { seed: each, rounds: 4 + (each % 8) });
        expect({ lost, stuck }, [`seed ${each}`, ...steps].join("\n")).toEqual({ lost: [], stuck: [] });
      }
    });
});
