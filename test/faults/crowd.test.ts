import { expect, test } from "vitest";
import { liveCrowd } from "./crowd/crowd.ts";
import { manners } from "./crowd/crowd-script.ts";

// A smaller version of `npm run crowd`: more tasks than seats, workspaces and idle programs.
test("six tasks of three workflows end with a single seat and three workspaces, with a crash and a killed daemon", async () => {
  const end = await liveCrowd({ each: 2, seats: 1, live: 0, workspaces: 3, kills: 1 });
  for (const { task, wanted } of end.tasks)
    expect([task.summary, task.phase]).toEqual([wanted.summary, manners[wanted.manner]]);
  expect(end.working).toBeLessThanOrEqual(1);
  expect(end.repeated).toEqual([]);
  end.home.remove();
}, 600_000);
