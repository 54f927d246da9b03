import { expect, test } from "vitest";
import { builtIn } from "../../test/engine/drive.ts";
import { waysToDone } from "./persons-turn.ts";

test("a reviewer is nearer to the end than the builder, and the builder nearer than the planner", () => {
  const workflow = builtIn("default");
  const names = ["done", "reviewing", "agent-review", "working", "planning", "pending"];
  expect(names.map((name) => waysToDone(workflow, name))).toEqual([0, 1, 2, 3, 4, 5]);
});

test("a state from which no way leads to a done state is farther than every other state", () => {
  const workflow = builtIn("default");
  const others = Object.keys(workflow.states).filter((name) => name !== "cancelled");
  const farthest = Math.max(...others.map((name) => waysToDone(workflow, name)));
  expect(waysToDone(workflow, "cancelled")).toBeGreaterThan(farthest);
});

test.each(["default", "classic", "minimal", "crew", "team", "team-subtask", "pipeline"])(
  "each open state of %s has a way to a done state",
  (name) => {
    const workflow = builtIn(name);
    const count = Object.keys(workflow.states).length;
    for (const state of Object.values(workflow.states))
      if (!state.terminal) expect(waysToDone(workflow, state.name)).toBeLessThan(count);
  },
);
