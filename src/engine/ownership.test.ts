import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { loadWorkflow } from "./language/load.ts";
import { ownsSection } from "./ownership.ts";
import type { Workflow } from "./workflow.ts";

function load(name: string): Workflow {
  const { workflow } = loadWorkflow(
    readFileSync(new URL(`../../workflows/${name}.yml`, import.meta.url), "utf8"),
    name,
  );
  if (workflow === undefined) throw new Error(name);
  return workflow;
}

test("a role owns the sections that gate the ways it may ask for", () => {
  const workflow = load("default");
  expect(ownsSection(workflow, "reviewer", "Review")).toBe(true);
  expect(ownsSection(workflow, "worker", "Review")).toBe(false);
  expect(ownsSection(workflow, "worker", "Handoff")).toBe(true);
});

test("where a way does not say who may ask, the role started for the state owns the section", () => {
  const workflow = load("classic");
  expect(ownsSection(workflow, "reviewer", "Review")).toBe(true);
  expect(ownsSection(workflow, "worker", "Review")).toBe(false);
  expect(ownsSection(workflow, "worker", "Handoff")).toBe(true);
});

test("context, answers and feedback are the person's, and everything else is the worker's", () => {
  const workflow = load("default");
  for (const section of ["Context", "Answers", "Feedback"]) {
    expect(ownsSection(workflow, "human", section)).toBe(true);
    expect(ownsSection(workflow, "worker", section)).toBe(false);
  }
  expect(ownsSection(workflow, "worker", "Notes")).toBe(true);
  expect(ownsSection(workflow, "reviewer", "Notes")).toBe(false);
});
