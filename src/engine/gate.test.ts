import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ownsSection } from "./gate.ts";
import { loadWorkflow } from "./language/load.ts";
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

test("where a way names no askers, the role that is started for the state owns the section", () => {
  const workflow = load("classic");
  expect(ownsSection(workflow, "reviewer", "Review")).toBe(true);
  expect(ownsSection(workflow, "worker", "Review")).toBe(false);
  expect(ownsSection(workflow, "worker", "Handoff")).toBe(true);
});

test("a person owns Context, Answers and Feedback; the worker owns every other section", () => {
  const workflow = load("default");
  for (const section of ["Context", "Answers", "Feedback"]) {
    expect(ownsSection(workflow, "human", section)).toBe(true);
    expect(ownsSection(workflow, "worker", section)).toBe(false);
  }
  expect(ownsSection(workflow, "worker", "Notes")).toBe(true);
  expect(ownsSection(workflow, "reviewer", "Notes")).toBe(false);
});
