import { expect, test } from "vitest";
import { dieInLife, lives } from "./child-lives.ts";

/** A death at every call takes minutes: test/long/children.test.ts. */
const every = 11;
const seed = Number(process.env.SIGNALBOX_SEED ?? 3);

test.for(lives)(
  "wherever a process dies while children start or stop, the next one ends them all, and starts no agent twice (cancelled: $cancels)",
  async (life) => {
    const { died } = await dieInLife(life, 1 + (seed % every), every);
    expect(died).toBeGreaterThan(100 / every);
  },
);
