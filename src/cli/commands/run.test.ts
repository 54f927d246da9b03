import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadWorkflow } from "../../engine/language/load.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { settingsOf } from "./run.ts";

const read = (name: string) => {
  const file = new URL(`../../../workflows/${name}.yml`, import.meta.url);
  return loadWorkflow(readFileSync(file, "utf8"), `${name}.yml`).workflow as Workflow;
};
const team = read("team");

test("a person who can be asked approves the plan; with --yes nothing is asked", () => {
  expect(settingsOf(team, { yes: false }, true)).toEqual({ plan_approval: true });
  expect(settingsOf(team, { yes: false }, false)).toEqual({});
  expect(settingsOf(team, { yes: true }, true)).toEqual({ skip_clarification: true, plan_approval: false });
  expect(settingsOf(team, { yes: true }, false)).toEqual({ skip_clarification: true, plan_approval: false });
});

test("a task that continues another is asked about again, although the first one had --yes", () => {
  expect(settingsOf(team, { yes: false }, false, true)).toEqual({ skip_clarification: false, plan_approval: false });
  expect(settingsOf(team, { yes: false }, true, true)).toEqual({ skip_clarification: false, plan_approval: true });
  expect(settingsOf(team, { yes: true }, true, true)).toEqual({ skip_clarification: true, plan_approval: false });
});

test("agents and policy are settings of the workflow, and a setting that is given by name counts", () => {
  expect(settingsOf(team, { yes: false, agents: 5, policy: "stop", set: ["waves=true"] }, false)).toEqual({
    ...{ agents: 5, failure_policy: "stop", waves: true },
  });
  expect(settingsOf(team, { yes: true, set: ["skip_clarification=false"] }, true)).toMatchObject({
    skip_clarification: false,
  });
});

test("a policy that does not exist is refused with those that do, and a workflow without the setting is named", () => {
  const refusal = (flags: Partial<Parameters<typeof settingsOf>[1]>, workflow = team) => {
    try {
      return settingsOf(workflow, { yes: false, ...flags }, true);
    } catch (error) {
      return error;
    }
  };
  expect(refusal({ policy: "hope" })).toMatchObject({
    ...{ message: 'There is no policy "hope".', hint: "Known: retry, continue, stop." },
  });
  expect(refusal({ agents: 2 }, read("minimal"))).toMatchObject({
    message: 'The workflow "minimal" has no setting "agents", so --agents means nothing.',
  });
  // A workflow without these settings has nothing to be asked about.
  expect(settingsOf(read("minimal"), { yes: true }, true)).toEqual({});
});
