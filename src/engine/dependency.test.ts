import { expect, test } from "vitest";
import { loadText } from "../../test/engine/drive.ts";
import {
  type Dependency,
  type DependencyFacts,
  dependencyProblem,
  judgeDependency,
  readDependency,
  sectionProblem,
  writeDependency,
} from "./dependency.ts";

const workflow = loadText(`version: 1
name: brew
states:
  todo: { waits_for: human, next: tasting }
  tasting: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: tasting, gate: { section: "## Plan" } }
  - { from: any, to: dropped, by: human }`);

const facts = (status: string, more: Partial<DependencyFacts> = {}): DependencyFacts => ({
  ...{ name: "coffee#1", workflow, status, reached: new Set(["todo"]), sections: new Set<string>() },
  ...more,
});
const plain: Dependency = { task: "a1" };
const tasted: Dependency = { task: "a1", state: "tasting" };
const planned: Dependency = { task: "a1", section: "Plan" };

test.each([
  ["a1", plain],
  ["coffee#12:state=tasting", { task: "coffee#12", state: "tasting" }],
  ["feature/x:section=Plan", { task: "feature/x", section: "Plan" }],
  ["a1:section=## Plan: the second part", { task: "a1", section: "Plan: the second part" }],
])("the dependency %s is read, and written as it was given", (text, dependency) => {
  expect(readDependency(text)).toEqual(dependency);
  expect(readDependency(writeDependency(dependency))).toEqual(dependency);
});

test.each([
  ["", 'The dependency "" names no task.'],
  [":state=tasting", 'The dependency ":state=tasting" names no task.'],
  ["a1:", 'The dependency "a1:" has a condition that does not exist.'],
  ["a1:stat=x", 'The dependency "a1:stat=x" has a condition that does not exist.'],
  ["a1:state=", 'The dependency "a1:state=" names no state.'],
  ["a1:section= ", 'The dependency "a1:section= " names no section.'],
])("the dependency %j is refused", (text, problem) => {
  expect(readDependency(text)).toMatchObject({ problem, fix: expect.stringContaining("TASK:state=STATE") });
});

test.each([
  [plain, facts("tasting"), "waits"],
  [plain, facts("done"), "met"],
  [plain, facts("dropped"), "hopeless"],
  [tasted, facts("todo"), "waits"],
  [tasted, facts("tasting"), "met"],
  [tasted, facts("dropped", { reached: new Set(["todo", "tasting"]) }), "met"],
  [tasted, facts("dropped"), "hopeless"],
  [{ task: "a1", state: "done" }, facts("dropped"), "hopeless"],
  [{ task: "a1", state: "dropped" }, facts("dropped"), "met"],
  [{ task: "a1", state: "renamed" }, facts("todo"), "hopeless"],
  [planned, facts("tasting"), "waits"],
  [planned, facts("todo", { sections: new Set(["Plan"]) }), "met"],
  [planned, facts("done"), "hopeless"],
] as const)("%j on a task %#: %s", (dependency, seen, verdict) => {
  expect(judgeDependency(dependency, seen)).toBe(verdict);
});

test.each([
  [{ task: "a1", state: "brewing" }, "todo", 'coffee#1 has the workflow "brew", which has no state "brewing".'],
  [{ task: "a1", state: "constructor" }, "todo", 'coffee#1 has the workflow "brew", which has no state "constructor".'],
  [
    { task: "a1", section: "Recipe" },
    "todo",
    'coffee#1 has no ## Recipe, and the workflow "brew" does not ask for one.',
  ],
  [tasted, "dropped", 'coffee#1 has ended in "dropped" and never reached "tasting", so the task could never start.'],
  [planned, "done", 'coffee#1 has ended in "done" and has no ## Plan, so the task could never start.'],
])("%j on a task in %s is refused", (dependency, status, problem) => {
  expect(dependencyProblem(dependency, facts(status))?.problem).toBe(problem);
});

test("a dependency that can be met is accepted, and a plain one on a cancelled task too", () => {
  for (const each of [plain, tasted, planned, { task: "a1", section: "Answers" }])
    expect(dependencyProblem(each, facts("todo"))).toBeUndefined();
  expect(dependencyProblem(plain, facts("dropped"))).toBeUndefined();
  expect(
    dependencyProblem({ task: "a1", section: "Recipe" }, facts("todo", { sections: new Set(["Recipe"]) })),
  ).toBeUndefined();
});

test("a section that one of several tasks may have can be handed down", () => {
  const other = facts("todo", { name: "coffee#2", sections: new Set(["Recipe"]) });
  expect(sectionProblem("Recipe", [facts("todo"), other])).toBeUndefined();
  expect(sectionProblem("Menu", [facts("todo"), other])?.problem).toMatch(
    /^The tasks that it depends on have no ## Menu/,
  );
});
