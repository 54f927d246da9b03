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
  /** Reading files takes real time, in which this clock stands still. */
  const pass = async (milliseconds: number) => {
    for (let step = 0; step < 10; step++) {
      await clock.pass(milliseconds / 10);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  await pass(60_000);
  const times: number[] = [];
  core.agents?.follow(() => void times.push(clock.now()));
  while (times.length < 10) await pass(interval);
  // A check whose files were read late is late itself, never early.
  const pauses = times.slice(1).map((time, place) => time - (times[place] ?? 0));
  expect(Math.min(...pauses)).toBe(interval);
});

test("pipeline is polled every 2.5 s, and an interval below 0.1 s is a warning", () => {
  const pipeline = readFileSync(join(packageRoot(), "workflows", "pipeline.yml"), "utf8");
  expect(loadWorkflow(pipeline, "pipeline.yml")).toMatchObject({ workflow: { pollInterval: 2.5 }, problems: [] });
  const { workflow, problems } = loadWorkflow(brew("exit_monitoring: { poll_interval: 0.099 }"), "brew.yml");
  expect(workflow?.pollInterval).toBe(0.1);
  expect(problems).toMatchObject([{ level: "warning", message: expect.stringContaining("0.099 s is too short") }]);
  expect(loadWorkflow(brew("exit_monitoring: { poll_interval: 0.1 }"), "brew.yml").problems).toEqual([]);
});
