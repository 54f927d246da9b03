import { describe, expect, test } from "vitest";
import { childProblems, engineEnd } from "./child-workflows.ts";
import { loadWorkflow } from "./language/load.ts";
import { verify } from "./verify/verify.ts";
import type { Workflow } from "./workflow.ts";

function load(text: string, name: string): Workflow {
  const { workflow, problems } = loadWorkflow(`version: 1\n${text}`, `${name}.yml`);
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  return workflow;
}

const over = (child: string) =>
  load(
    `states:
  plan: { agent: { role: planner, mode: turn, prompt: p, result: plan }, next: build }
  build: { fan_out: { from: plan.parts, workflow: ${child} }, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: [engine, human] }]
prompts: { p: x }
schemas: { plan: { type: object, properties: { parts: { type: array } } } }`,
    "parent",
  );
const part = (way: string) =>
  load(
    `states: { a: { waits_for: human, next: b }, b: { waits_for: human, next: done }, done: { terminal: true }, dropped: { terminal: true, outcome: cancelled } }
transitions: [${way}]`,
    "part",
  );

describe("the workflow of a fan-out's children", () => {
  const sound = part("{ from: any, to: dropped, by: [engine, human] }");
  const told = (workflow: Workflow, others: Readonly<Record<string, Workflow>>) =>
    childProblems(workflow, "parent", (name) => others[name]).map(({ state, message }) => `${state}: ${message}`);

  test("nothing is wrong with children that the engine can end from every state", () => {
    expect(told(over("part"), { part: sound })).toEqual([]);
    expect(engineEnd(sound, "b")).toBe("dropped");
  });

  test("a missing workflow is an error, and verify reports it", () => {
    const expected = 'The workflow "part", which the children of "build" follow, is missing or has errors.';
    expect(told(over("part"), {})).toEqual([`build: ${expected}`]);
    const { findings, proved } = verify(over("part"), [], { name: "parent", workflowNamed: () => undefined });
    expect(findings).toContainEqual(expect.objectContaining({ code: "children", level: "error", message: expected }));
    expect(proved).toBe(false);
    const others = verify(over("part"), [], { name: "parent", workflowNamed: () => sound }).findings;
    expect(others.filter(({ code }) => code === "children")).toEqual([]);
  });

  test.for([
    "{ from: any, to: dropped, by: human }",
    "{ from: any, to: dropped, by: [engine, human], when: visits < 2 }",
    "{ from: a, to: dropped, by: [engine, human] }",
  ])("children that the engine cannot end everywhere are an error: %s", (way) => {
    const [problem] = told(over("part"), { part: part(way) });
    expect(problem).toMatch(/^build: The engine cannot end a child in "(a" and 1 more|b") of the workflow "part": /);
  });

  test("a fan-out that reaches itself is an error, directly and over several files", () => {
    expect(told(over("parent"), { parent: over("parent") })).toEqual([
      'build: The children of "build" would have children of their own without end: parent → parent.',
    ]);
    const files = { first: over("second"), second: over("parent"), parent: over("first") };
    expect(told(files.parent, files)).toEqual([
      'build: The children of "build" would have children of their own without end: parent → first → second → parent.',
    ]);
    expect(told(over("first"), { first: over("part"), part: sound })).toEqual([]);
  });
});
