import { expect, test } from "vitest";
import { atEachState, byLot, fullLife, killTeam } from "../faults/kill-teams.ts";
import { killsOf } from "../kill-plan.ts";

// Like test/faults/team-kills.test.ts, in every state of parent and parts, and at points that are drawn by lot.

const seed = Number(process.env.SIGNALBOX_SEED ?? 1);
const kills = killsOf("team", "long");
let done = 0;

test.for(["before", "after"] as const)(
  "a team builds each part once, although its daemon is killed %s it has saved that a task enters a state, in every state",
  async (when) => {
    const { next, left } = atEachState(when);
    done += await killTeam(fullLife, next);
    expect([...left]).toEqual([]);
  },
);

test(`a team builds each part once, although its daemon is killed at random points, ${kills} times in all (seed ${seed})`, async () => {
  for (let life = seed; done < kills; life++) {
    const died = await killTeam(fullLife, byLot(life, 20)).catch((error) => {
      throw new Error(`Seed ${life}`, { cause: error });
    });
    expect(died).toBeGreaterThan(0);
    done += died;
  }
});
