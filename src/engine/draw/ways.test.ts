import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadWorkflow } from "../language/load.ts";
import type { Workflow } from "../workflow.ts";
import { effectsOfWays } from "./route.ts";

const folder = join(import.meta.dirname, "../../../workflows");

function load(file: string): Workflow {
  const { workflow, problems } = loadWorkflow(readFileSync(join(folder, file), "utf8"), file);
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  return workflow;
}

/** `action role` for each effect of the ways between two states. */
function effects(workflow: Workflow, from: string, to: string): readonly (readonly string[])[] {
  const all = effectsOfWays(workflow);
  return workflow.ways
    .filter((way) => way.from === from && way.to === to)
    .map((way) =>
      (all.get(way) ?? []).map(({ action, agent, params }) => [action, agent?.role ?? params.role].join(" ").trim()),
    );
}

test("a way shows the runs that end with the old state, its hooks, and the runs that the new state starts or messages", () => {
  const workflow = load("default.yml");
  expect(effects(workflow, "pending", "planning")).toEqual([["acquire_workspace", "spawn_agent worker"]]);
  expect(effects(workflow, "working", "agent-review")).toEqual([["spawn_agent reviewer"]]);
  expect(effects(workflow, "agent-review", "reviewing")).toEqual([["kill_agent reviewer"]]);
  expect(effects(workflow, "agent-review", "working")).toEqual([["kill_agent reviewer", "notify_agent worker"]]);
});

test("ways between the same states are distinguished by their askers", () => {
  const [asked, , byEngine] = [...effects(load("default.yml"), "agent-review", "stuck"), []].toSorted(
    (a, b) => b.length - a.length,
  );
  expect(asked).toEqual(["kill_agent reviewer", "notify_agent worker"]);
  expect(byEngine).toEqual([]);
});

test("an escalation starts the agent that died", () => {
  expect(effects(load("default.yml"), "planning", "stuck")).toEqual([["spawn_agent worker"]]);
});

test("every way of every built-in workflow can be taken", () => {
  for (const file of readdirSync(folder)) {
    const workflow = load(file);
    const known = effectsOfWays(workflow);
    const missing = workflow.ways.filter((way) => !known.has(way)).map(({ from, to }) => `${file}: ${from} → ${to}`);
    expect(missing).toEqual([]);
  }
});
