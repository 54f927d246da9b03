import { expect, test } from "vitest";
import { dieInLife, lives } from "../faults/child-lives.ts";

// Like test/faults/children.test.ts, at every call of the store.

test.for(lives)(
  "whichever call of the store a process dies at while children start or stop, the next one ends them all, and starts no agent twice (cancelled: $cancels)",
  async (life) => {
    const { died, calls } = await dieInLife(life, 1, 1);
    // The last calls of a life may not come again in the next.
    expect(died).toBeGreaterThan(0.9 * calls);
  },
);
