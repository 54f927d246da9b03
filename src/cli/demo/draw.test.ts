import { expect, test } from "vitest";
import type { RunView } from "../../api/agents.ts";
import type { TaskView } from "../../api/tasks.ts";
import { createPaint } from "../fast/tell.ts";
import { draw, type View } from "./draw.ts";
import { demoTasks } from "./stage.ts";

const plain = createPaint(false);
const stays = ["pending", "planning", "clarification", "planning", "working", "agent-review", "working"].map(
  (status, i) => ({ status, from: i * 1000, until: (i + 1) * 1000 }),
);
const run = { key: "worker#1", activity: "busy", raised: "", what: `Writing \u001b[2J${"long ".repeat(60)}` };
const view: View = {
  tasks: demoTasks.map((planned) => ({
    planned,
    task: { outcome: null, needsPerson: false } as TaskView,
    stays,
    runs: [run as RunView],
  })),
  happenings: Array.from({ length: 40 }, (_, i) => ({
    at: i * 1000,
    number: 1,
    text: `thing ${i}\nwith a second line ${"and more ".repeat(30)}`,
    mood: "plain",
  })),
  began: 0,
  now: 60_000,
};

test.each([
  [80, 23],
  [120, 39],
  [60, 14],
  [80, 5],
])("with %i columns no line is wider, and with %i rows there are no more lines", (width, height) => {
  const lines = draw(view, width, height, plain);
  expect(lines.filter((line) => line.length > width || line.includes("\n") || line.includes("\u001b"))).toEqual([]);
  expect(lines.length).toBe(height);
});

test("a small screen shows the last states and the last events", () => {
  const lines = draw(view, 60, 20, plain);
  expect(lines[2]).toMatch(/^ {4}… › .*working 54\.0s$/);
  expect(lines.at(-1)).toMatch(/^ 39\.0s {2}#1 {2}thing 39 with a second line/);
});

test("a person sees which tasks wait for them, and which are over", () => {
  const [first, second] = view.tasks as [View["tasks"][number], View["tasks"][number]];
  const waits = { ...first, task: { outcome: null, needsPerson: true } as TaskView };
  const over = { ...second, task: { outcome: "done", needsPerson: false } as TaskView };
  const lines = draw({ ...view, tasks: [waits, over], happenings: [] }, 80, 23, plain);
  expect(lines[4]).toMatch(/^ {4}! waits for a person {3}● worker#1 {2}Writing/);
  expect(lines[8]).toBe("    ✓ merged into main");
});
