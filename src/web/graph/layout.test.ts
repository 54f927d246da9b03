import { describe, expect, test } from "vitest";
import type { TaskGraph } from "../../api/task-views.ts";
import { layOut } from "./layout.ts";

const state = (name: string) => ({
  ...{ name, initial: false, terminal: false, outcome: null, kind: "agent" as const, waits: "", role: "", ask: "" },
  does: [],
});
const way = (from: string, to: string, everywhere = false, implied: "escalation" | null = null) => ({
  ...{ from, to, everywhere, label: `to ${to}`, by: [], gates: [], when: [], hooks: [], implied },
});
const stay = (name: string) => ({ state: name, since: "", until: null, by: "worker", cause: "", reason: "" });
const course: TaskGraph = {
  ...{ task: "t", workflow: "w", hash: "h", status: "review", isCut: false },
  graph: {
    states: ["todo", "work", "review", "done", "dropped"].map(state),
    ways: [
      ...[way("todo", "work"), way("work", "review"), way("review", "work"), way("review", "work")],
      ...[
        way("review", "done"),
        way("work", "todo", false, "escalation"),
        way("todo", "dropped", true),
        way("work", "dropped", true),
      ],
    ],
  },
  path: ["todo", "work", "review", "work", "review"].map(stay),
  moves: [{ to: "done", by: ["human"], open: false, command: "", missing: ["It is not merged."] }],
};

const { graph } = course;
const pairsOf = (layout: ReturnType<typeof layOut>) => layout.ways.map(({ from, to }) => `${from} ${to}`);
const wayOf = ({ ways }: ReturnType<typeof layOut>, pair: string) =>
  ways.find(({ from, to }) => `${from} ${to}` === pair);

test("several ways between two states are one arrow, and ways from everywhere are none", () => {
  const layout = layOut(graph, "across");
  expect(layout.states.map(({ name }) => name)).toEqual(["todo", "work", "review", "done"]);
  expect(pairsOf(layout)).toEqual(["todo work", "work review", "review work", "review done", "work todo"]);
  expect(wayOf(layout, "review work")?.ways).toHaveLength(2);
  expect(layout.everywhere.map(({ to }) => to)).toEqual(["dropped"]);
});

test("a way from everywhere is drawn once the task has taken it", () => {
  const dropped = { ...course, status: "dropped", path: [...course.path, stay("dropped")] };
  const layout = layOut(graph, "across", dropped);
  expect(pairsOf(layout).filter((pair) => pair.endsWith(" dropped"))).toEqual(["review dropped"]);
  expect(layout.states.find(({ name }) => name === "dropped")).toMatchObject({ isCurrent: true, visits: 1 });
});

test("a state that the workflow no longer has is drawn if the task was in it", () => {
  const migrated = { ...course, path: [stay("old"), ...course.path] };
  const layout = layOut(graph, "across", migrated);
  expect(layout.states.at(-1)).toMatchObject({ name: "old", state: undefined, note: "no longer a state" });
  expect(wayOf(layout, "old todo")).toMatchObject({ ways: [], look: "taken" });
});

test("without a task each arrow has the words of its ways", () => {
  const labels = layOut(graph, "down").ways.map(({ label }) => label);
  expect(labels).toEqual([["to work"], ["to review"], ["to work", "to work"], ["to done"], ["to todo"]]);
});

test("with a task only the ways out of its state have a label: who may take them", () => {
  const labels = layOut(graph, "across", course).ways.flatMap(({ to, label }) =>
    label.length > 0 ? [[to, label]] : [],
  );
  expect(labels).toEqual([["done", ["human"]]]);
});

test("the look of an arrow says whether the way is open, closed, taken, or for the engine after failures", () => {
  const looksOf = (moves: TaskGraph["moves"]) =>
    layOut(graph, "across", { ...course, moves }).ways.map(({ from, to, look }) => `${from} ${to}: ${look}`);
  const shut = ["todo work: taken", "work review: taken", "review work: taken"];
  expect(looksOf(course.moves)).toEqual([...shut, "review done: closed", "work todo: escalation"]);
  const open = course.moves.map((each) => ({ ...each, open: true }));
  expect(looksOf(open)).toEqual([...shut, "review done: open", "work todo: escalation"]);
  expect(looksOf([])).toEqual([...shut, "review done: plain", "work todo: escalation"]);
});

test("steps and visits are counted", () => {
  const layout = layOut(graph, "across", course);
  expect(wayOf(layout, "work review")?.taken).toBe(2);
  expect(layout.states.map(({ name, visits }) => `${name} ${visits}`)).toEqual([
    "todo 1",
    "work 2",
    "review 2",
    "done 0",
  ]);
});

describe.each(["across", "down"] as const)("%s", (direction) => {
  test("the states follow each other in that direction", () => {
    const [todo, work] = layOut(graph, direction, course).states;
    const [x, y] = [(work?.at.x ?? 0) - (todo?.at.x ?? 0), (work?.at.y ?? 0) - (todo?.at.y ?? 0)];
    expect(direction === "across" ? x > Math.abs(y) : y > Math.abs(x)).toBe(true);
  });

  test("states do not overlap, all are inside, and each arrow has its ends at its states", () => {
    const layout = layOut(graph, direction, course);
    for (const [i, one] of layout.states.entries()) {
      expect(one.at.x - one.width / 2).toBeGreaterThanOrEqual(0);
      expect(one.at.x + one.width / 2).toBeLessThanOrEqual(layout.width);
      expect(one.at.y + one.height / 2).toBeLessThanOrEqual(layout.height);
      for (const other of layout.states.slice(i + 1)) {
        const isApart =
          Math.abs(one.at.x - other.at.x) >= (one.width + other.width) / 2 ||
          Math.abs(one.at.y - other.at.y) >= (one.height + other.height) / 2;
        expect(isApart, `${one.name} and ${other.name}`).toBe(true);
      }
    }
    for (const { from, to, points } of layout.ways) {
      const isAt = (name: string, point = points[0]) => {
        const found = layout.states.find((each) => each.name === name);
        if (found === undefined || point === undefined) return false;
        const { at, width, height } = found;
        return Math.abs(point.x - at.x) <= width / 2 + 1 && Math.abs(point.y - at.y) <= height / 2 + 1;
      };
      expect([isAt(from), isAt(to, points.at(-1))]).toEqual([true, true]);
    }
    expect(layOut(graph, direction, course)).toEqual(layout);
  });
});
