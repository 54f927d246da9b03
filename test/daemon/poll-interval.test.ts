import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { packageRoot } from "../../src/home/places.ts";
import { agentStage } from "./agent-stage.ts";

const brew = (monitoring: string) => `
version: 1
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work, limits: { stall: 24h } } }
prompts: { work: Brew }
states:
  brewing: { agent: { role: worker }, next: done }
  done: { terminal: true }
${monitoring}
`;

test.each([
  ["", 3_000],
  ["exit_monitoring: { poll_interval: 0.5 }", 500],
  ["exit_monitoring: { poll_interval: 12 }", 12_000],
  ["exit_monitoring: { poll_interval: 0 }", 100],
])("agents of a workflow with %j are checked every %i ms", async (monitoring, interval) => {
  const { core, create, hasStarted, clock } = await agentStage(brew(monitoring), () => [
    { print: "busy\n" },
    { hang: true },
  ]);
  await create("t1");
  await hasStarted();
  await clock.pass(60_000);
  let checks = 0;
  core.agents?.follow(() => void checks++);
  await clock.pass(120_000);
  expect(checks).toBe(120_000 / interval);
});

test("pipeline is polled every 2.5 s, and an interval below 0.1 s is a warning", () => {
  const pipeline = readFileSync(join(packageRoot(), "workflows", "pipeline.yml"), "utf8");
  expect(loadWorkflow(pipeline, "pipeline.yml")).toMatchObject({ workflow: { pollInterval: 2.5 }, problems: [] });
  const { workflow, problems } = loadWorkflow(brew("exit_monitoring: { poll_interval: 0.099 }"), "brew.yml");
  expect(workflow?.pollInterval).toBe(0.1);
  expect(problems).toMatchObject([{ level: "warning", message: expect.stringContaining("0.099 s is too short") }]);
  expect(loadWorkflow(brew("exit_monitoring: { poll_interval: 0.1 }"), "brew.yml").problems).toEqual([]);
});
