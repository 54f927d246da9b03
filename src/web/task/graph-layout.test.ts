import { expect, test } from "vitest";
import type { TaskGraph } from "../../api/task-views.ts";
import { drawnOf, layOut, stepsOf } from "./graph-layout.ts";

const state = (name: string) => ({
  ...{ name, initial: false, terminal: false, outcome: null, kind: "agent" as const, waits: "", role: "", ask: "" },
  does: [],
});
const way = (from: string, to: string, everywhere = false) => ({
  ...{ from, to, everywhere, label: "", by: [], gates: [], when: [], hooks: [], implied: null },
});
const stay = (name: string) => ({ state: name, since: "", until: null, by: "worker", cause: "", reason: "" });
const graph: TaskGraph = {
  ...{ task: "t", workflow: "w", hash: "h", status: "review", isCut: false },
  graph: {
    states: ["todo", "work", "review", "done", "dropped"].map(state),
    ways: [
      ...[way("todo", "work"), way("work", "review"), way("review", "work"), way("review", "work")],
      ...[way("review", "done"), way("todo", "dropped", true), way("work", "dropped", true)],
    ],
  },
  path: ["todo", "work", "review", "work", "review"].map(stay),
  moves: [{ to: "done", by: ["human"], open: false, command: "", missing: ["It is not merged."] }],
};

test("several ways between two states are one arrow, and ways from everywhere are none", () => {
  const { states, ways, everywhere } = drawnOf(graph);
  expect(states).toEqual(["todo", "work", "review", "done"]);
  expect(ways.map(({ from, to }) => `${from} ${to}`)).toEqual([
    "todo work",
    "work review",
    "review work",
    "review done",
  ]);
  expect(everywhere).toEqual(["dropped"]);
});

test("a way from everywhere is drawn once the task has taken it", () => {
  const dropped = { ...graph, status: "dropped", path: [...graph.path, stay("dropped")] };
  expect(drawnOf(dropped).ways).toContainEqual({ from: "review", to: "dropped", label: "" });
});

test("a state that the workflow no longer has is drawn if the task was in it", () => {
  const migrated = { ...graph, path: [stay("old"), ...graph.path] };
  expect(drawnOf(migrated).states).toContain("old");
});

test("the ways out of the task's state say who may take them", () => {
  const labels = drawnOf(graph).ways.flatMap(({ to, label }) => (label === "" ? [] : [[to, label]]));
  expect(labels).toEqual([["done", "human"]]);
});

test("steps are counted", () => {
  expect(stepsOf(graph.path).get("work review")).toEqual({ from: "work", to: "review", count: 2 });
});

test.each(["LR", "TB"] as const)(
  "states do not overlap, and each arrow has its ends at its states: %s",
  (direction) => {
    const { states, ways } = drawnOf(graph);
    const layout = layOut(states, ways, direction);
    for (const one of layout.states)
      for (const other of layout.states.filter((each) => each !== one)) {
        const isApart =
          Math.abs(one.x - other.x) >= (one.width + other.width) / 2 ||
          Math.abs(one.y - other.y) >= (one.height + other.height) / 2;
        expect(isApart, `${one.name} and ${other.name}`).toBe(true);
      }
    for (const { from, to, points } of layout.ways) {
      const isAt = (name: string, point = points[0]) => {
        const found = layout.states.find((each) => each.name === name);
        if (found === undefined || point === undefined) return false;
        return (
          Math.abs(point.x - found.x) <= found.width / 2 + 1 && Math.abs(point.y - found.y) <= found.height / 2 + 1
        );
      };
      expect([isAt(from), isAt(to, points.at(-1))]).toEqual([true, true]);
    }
    expect(layOut(states, ways, direction)).toEqual(layout);
  },
);
