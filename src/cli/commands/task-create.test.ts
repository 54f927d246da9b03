import { expect, test } from "vitest";
import { loadWorkflow } from "../../engine/language/load.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { readSettingFlags } from "./task-create.ts";

const text = `version: 1
settings:
  agents: { default: 3, min: 1 }
  waves:  { default: false }
  policy: { default: retry, one_of: [retry, stop] }
  scouts: { default: [small] }
  models: { default: { default: large } }
states: { todo: { waits_for: human, next: shipped }, shipped: { terminal: true } }
`;
const workflow = loadWorkflow(text, "settings.yml").workflow as Workflow;

test("values are read as what the workflow declares", () => {
  const flags = ["agents=5", "waves=true", "policy=stop", "scouts=small,large", "models=default:small,todo:large"];
  expect(readSettingFlags(workflow, flags)).toEqual({
    agents: 5,
    waves: true,
    policy: "stop",
    scouts: ["small", "large"],
    models: { default: "small", todo: "large" },
  });
});

test("what does not fit is refused, with the reason", () => {
  const refusal = (flag: string) => () => readSettingFlags(workflow, [flag]);
  expect(refusal("agents=0")).toThrow('The setting "agents" must be at least 1, but is 0.');
  expect(refusal("agents=many")).toThrow('The setting "agents" must be a number, but is text.');
  expect(refusal("policy=hope")).toThrow('The setting "policy" must be one of retry, stop, but is hope.');
  expect(refusal("models=small")).toThrow('The setting "models" must be a map, but is text.');
  expect(refusal("constructor=1")).toThrow('There is no setting "constructor".');
  expect(refusal("agents")).toThrow("--set agents has no value.");
});
