import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadWorkflow } from "./language/load.ts";
import { waysBack } from "./persons-turn.ts";

test("from a state that waits for a person, the ways back lead to agents, without the way of the approval", () => {
  expect(backFrom("default", "reviewing")).toEqual({ all: ["working"], toAgents: ["working"] });
  expect(backFrom("default", "stuck")).toEqual({ all: [], toAgents: [] });
  expect(backFrom("default", "agent-review")).toEqual({ all: [], toAgents: [] });
});

test("where a person can ask for several states, those in which an agent works are distinguished", () => {
  const { all, toAgents } = backFrom("crew", "stuck");
  expect([...all].sort()).toEqual(["merging", "queued", "ready", "working"]);
  expect(toAgents).toEqual(["working"]);
});

function backFrom(name: string, status: string) {
  const { workflow } = loadWorkflow(
    readFileSync(new URL(`../../workflows/${name}.yml`, import.meta.url), "utf8"),
    name,
  );
  const state = workflow?.states[status];
  if (workflow === undefined || state === undefined) throw new Error(`There is no ${status} in ${name}.`);
  return waysBack(workflow, state);
}
