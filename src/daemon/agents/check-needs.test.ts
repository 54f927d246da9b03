import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scripted } from "../../adapters/harness/scripted.ts";
import { loadWorkflow } from "../../engine/language/load.ts";
import type { Workflow } from "../../engine/workflow.ts";
import { packageRoot } from "../../home/places.ts";
import type { Capabilities, Harness } from "../../ports/harness.ts";
import { checkNeeds, neededHarnesses } from "./harnesses.ts";

const able = scripted({ program: ["none"], version: "1", state: "", script: "" });

function harness(name: string, can: Partial<Capabilities>): Harness {
  return { ...able, name, title: name, can: { ...able.can, ...can } };
}

function harnesses(...all: readonly Harness[]) {
  return () => new Map(all.map((each) => [each.name, each]));
}

function builtIn(name: string): Workflow {
  return loaded(readFileSync(join(packageRoot(), "workflows", `${name}.yml`), "utf8"));
}

function loaded(text: string): Workflow {
  const { workflow, problems } = loadWorkflow(text, "flow.yml");
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  return workflow;
}

const auto = { agentsSandbox: "auto" } as const;
const both = { harness: "one", reviewHarness: "two" };

test("an unknown harness is refused, whether or not an agent would run in it", () => {
  const reasons = checkNeeds(harnesses(harness("one", {})), builtIn("default"), both, auto);
  expect(reasons.map(({ text }) => text)).toEqual(['There is no harness "two".']);
  expect(reasons[0]?.fix).toContain("Known harnesses: one.");
});

test("a harness with every capability fulfils the needs of the built-in workflows", () => {
  for (const name of ["classic", "crew", "default", "minimal", "pipeline", "team", "team-subtask"])
    expect(
      checkNeeds(harnesses(able), builtIn(name), { harness: "scripted", reviewHarness: "scripted" }, auto),
    ).toEqual([]);
});

test("a capability that the reviewer's harness lacks is reported for the reviewer alone", () => {
  const known = harnesses(harness("one", {}), harness("two", { session: false }));
  const reasons = checkNeeds(known, builtIn("default"), both, auto);
  expect(reasons.map(({ text }) => text)).toEqual([
    'The workflow "default" needs more for its reviewer: two cannot run in a terminal.',
  ]);
});

const roleless = { harness: "one", reviewHarness: "one" };
const spec = (more: string) =>
  flow(`agent: { role: worker, tools: [Read, comment]${more} }, outcomes: [{ then: end }]`);

test("tools that can be withheld neither by the harness nor by its sandbox are refused, with a sentence", () => {
  const open = harnesses(harness("one", { withholds: ["write"] }));
  const texts = (text: string, config: Parameters<typeof checkNeeds>[3]) =>
    checkNeeds(open, loaded(text), roleless, config).map((reason) => reason.text);
  const refusal = [
    'The workflow "flow" needs more for its worker: one cannot be kept from tools that execute commands or reach the web, unless it runs in a sandbox without write access and with "network: proxy" or "off".',
  ];
  const on = { agentsSandbox: "on" } as const;
  expect(texts(spec(""), auto)).toEqual(refusal);
  expect(texts(spec(", mode: session"), auto)).toEqual(refusal);
  expect(texts(spec(""), on)).toEqual(refusal);
  expect(texts(spec(", network: proxy"), auto)).toEqual(refusal);
  expect(texts(spec(", network: proxy"), on)).toEqual([]);
  expect(texts(spec(", network: off, sandbox: on"), auto)).toEqual([]);
  expect(texts(spec(", network: proxy").replace("Read,", "Read, Edit,"), on)).toEqual([
    expect.stringContaining("one cannot be kept from tools that execute commands,"),
  ]);
  expect(texts(spec("").replace("Read,", "Read, Bash,"), auto)).toEqual([]);
});

const flow = (state: string, more = "") => `name: flow
version: 1
roles: { worker: { mode: turn, prompt: work } }
states:
  todo: { waits_for: slot, next: work }
  work: { ${state} }
  end: { terminal: true }
transitions:
  - { from: todo, to: work${more} }
prompts: { work: Work }
schemas: { view: { type: object, required: [good], properties: { good: { type: boolean } } } }
`;

test.each([
  ["a wait", flow("agent: { role: worker }, outcomes: [{ then: end }]")],
  ["a hook", flow("waits_for: human, next: end", ", hooks: [{ action: spawn_agent, role: worker, prompt: work }]")],
  ["a person's helper", flow("agent: { role: worker }, waits_for: human, next: end")],
])("the needs of %s are checked", (_, text) => {
  const workflow = loaded(text);
  expect(neededHarnesses(workflow, both)).toEqual(["one"]);
  const reasons = checkNeeds(harnesses(harness("one", { turn: false }), harness("two", {})), workflow, both, auto);
  expect(reasons.map((reason) => reason.text)).toEqual([
    'The workflow "flow" needs more for its worker: one cannot run without a terminal.',
  ]);
});
