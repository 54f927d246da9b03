import { expect, test } from "vitest";
import { byLot, killPipelines } from "../faults/kill-pipelines.ts";
import { killsOf } from "../kill-plan.ts";

// Like test/faults/pipeline-kills.test.ts, with ten issues at once, and at points that are drawn by lot.

const seed = Number(process.env.SIGNALBOX_SEED ?? 1);
const kills = killsOf("pipeline", "long");
const issues = 10;

test(`${issues} issues have one pull request each and one comment a round, although the daemon is killed ${kills} times in all (seed ${seed})`, {
  timeout: 3_600_000,
}, async () => {
  let done = 0;
  for (let life = seed; done < kills; life++) {
    const figures = await killPipelines(issues, byLot(life, kills - done)).catch((error) => {
      throw new Error(`Seed ${life}`, { cause: error });
    });
    expect(figures.kills).toBeGreaterThan(0);
    expect(figures.comments / figures.rounds).toBe(1);
    expect(figures.pulls / figures.tasks).toBe(1);
    done += figures.kills;
  }
});
