import { expect, test } from "vitest";
import { killPlan } from "../kill-plan.ts";
import { betweenCallAndRecord, killPipelines } from "./kill-pipelines.ts";
import { inOrder } from "./kill-teams.ts";

test(`an issue has one pull request and one comment a round, although the daemon is killed ${betweenCallAndRecord.length} times between a call and its record`, {
  timeout: 240_000,
}, async () => {
  const figures = await killPipelines(1, inOrder(betweenCallAndRecord.map(([, point]) => point)));
  expect(figures).toEqual({ kills: killPlan.pipeline.usual, rounds: 2, comments: 2, tasks: 1, pulls: 1 });
});
