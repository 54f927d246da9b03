import { expect, test } from "vitest";
import type { ChildrenView, PartView, TaskView } from "../api/tasks.ts";
import { createPaint } from "./fast/tell.ts";
import { describeCounts, writeBar, writeParts } from "./parts.ts";
import { hiddenIn, inTree, marksIn, writeTasks } from "./task-table.ts";
import { displayWidth } from "./text.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const paint = createPaint(false);
const task = (number: number, more: Partial<TaskView> = {}) =>
  ({
    ...{ id: `t${number}`, project: "coffee", number, summary: `Task ${number}`, status: "busy", outcome: null },
    ...{ session: "none", needsPerson: false, waiting: "", paused: "", branch: `b${number}`, parent: "", part: null },
    ...{ children: null, createdAt: new Date(now - 60_000).toISOString(), ...more },
  }) as TaskView;
const slot = (number: number | null) => ({ slot: number }) as TaskView["part"];
const part = (item: string, state: PartView["state"], why = "", more: Partial<PartView> = {}): PartView => ({
  ...{ id: `id-${item}`, number: 2, item, title: `Build ${item}`, try: 1, status: state.toUpperCase(), state },
  ...{ needsPerson: false, why, earlier: [], ...more },
});
const children: ChildrenView = {
  ...{ checkpoint: "RUNNING", waiting: 1, running: 2, done: 1, failed: 1, skipped: 1, needPerson: ["id-css"] },
  parts: [
    part("theme", "done"),
    part("css", "running", "Its agent asks something.", { needsPerson: true }),
    part("menu", "running"),
    part("icons", "waiting", 'It needs "css", which is not done.'),
    part("docs", "failed", "There is no docs folder.", { try: 2 }),
    part("site", "skipped", 'Skipped: it needs "docs", which failed.'),
  ],
};
const family = [
  task(9),
  task(3, { parent: "t1", part: slot(2) }),
  task(2, { parent: "t1", part: slot(1), session: "alive" }),
  task(1, { summary: "Add dark mode", children }),
];

test("a list has the parts of a task below it, in the order of the plan, and counts them behind its summary", () => {
  expect(`\n${writeTasks(family, { paint, columns: 60 }, now)}\n`).toMatchInlineSnapshot(`
    "
       ID  TASK      STATUS  AGE  SUMMARY
       t9  coffee#9  busy     1m  Task 9
       t1  coffee#1  busy     1m  Add dark m…  ✓1 ●1 ◌1 ✗1 –1 !1
    ●  t2  └ #2      busy     1m  Task 2
       t3  └ #3      busy     1m  Task 3
    "
  `);
  expect(marksIn(family)).toContain("its parts: ✓ done, ● working, ◌ waiting, ✗ failed, – skipped, ! need you");
});

test("a task that needs a person is marked so, with what to do, also if its session is dead", () => {
  const tasks = [
    task(1, { session: "dead", needsPerson: true, status: "stuck" }),
    task(2, { session: "dead", needsPerson: true, held: { reason: "It ended.", word: "error", again: "wait" } }),
    task(3, { session: "dead" }),
  ];
  const lines = writeTasks(tasks, { paint, columns: 60 }, now).split("\n");
  expect(lines.slice(1).map((line) => line.slice(0, 5))).toEqual(["!  t1", "!  t2", "✗  t3"]);
  expect(marksIn(tasks)).toContain("! it needs a person; signalbox task explain ID says what to do");
});

test("the meaning of the mark of a pause names the command that ends the pause in force", () => {
  const why = (command: string) => ({ paused: `It is paused. Resume with: ${command}` });
  const [all, coffee, tea] = ["--all", "--project coffee", "--project tea"].map((scope) => `signalbox resume ${scope}`);
  expect(marksIn([task(1, why(all ?? "")), task(2, why(all ?? ""))])).toBe(`‖ it is paused; to continue: ${all}`);
  expect(marksIn([task(1, why(coffee ?? "")), task(2, why(tea ?? ""))])).toContain(`continue: ${coffee} or ${tea}`);
});

test("in a file every task has its whole name, and none is left out", () => {
  const waiting = Array.from({ length: 9 }, (_, i) => task(10 + i, { parent: "t1", part: slot(null) }));
  const text = writeTasks([...waiting, ...family], { paint, columns: Number.POSITIVE_INFINITY }, now);
  expect(text).toMatch(/coffee#2 [\s\S]*coffee#18 /);
  expect(text).not.toContain("└");
});

test("many parts that wait are left out on a screen, with the command that lists them; those that need a person stay", () => {
  const waiting = Array.from({ length: 9 }, (_, i) =>
    task(10 + i, { parent: "t1", part: slot(null), needsPerson: i === 4 }),
  );
  const tasks = [...waiting, ...family];
  expect(inTree(tasks).map(({ task: { number } }) => number)).toEqual([9, 1, 2, 3, 14]);
  expect(hiddenIn(tasks)).toEqual(["8 parts of coffee#1 wait to be started: signalbox task list --parent t1"]);
  expect(hiddenIn(family)).toEqual([]);
  // The list of the parts themselves has all of them.
  expect(inTree(waiting)).toHaveLength(9);
});

test("a bar has the given width, whatever the parts are", () => {
  for (const width of [1, 7, 40]) expect(displayWidth(writeBar(children, width, paint))).toBe(width);
  expect(writeBar({ ...children, parts: [] }, 5, paint)).toBe("·····");
  expect(writeBar(children, 6, paint)).toBe("█××▒▒·");
  expect(describeCounts(children)).toBe("1 of 6 done, 1 working, 1 waiting, 1 failed, 1 skipped, 1 needs you");
});

test("each part is a line with its task and what it waits for, or why it was not done", () => {
  expect(`\n${writeParts(children.parts, { paint, columns: 80 }).join("\n")}\n`).toMatchInlineSnapshot(`
    "
      ✓  theme  id-theme  Build theme
      !  css    id-css  RUNNING: Its agent asks something.
      ●  menu   id-menu  RUNNING
      ◌  icons  id-icons  It needs "css", which is not done.
      ✗  docs   id-docs  FAILED (try 2): There is no docs folder.
      –  site   id-site  Skipped: it needs "docs", which failed.
    "
  `);
});

test("a task whose merge was undone is listed as undone, and not as done", () => {
  const ended = { status: "done", outcome: "done" } as const;
  const lines = writeTasks([task(2, { ...ended, undone: true }), task(1, ended)], { paint, columns: 80 }, now).split(
    "\n",
  );
  expect(lines.map((line) => / (undone|done) /.exec(line)?.[1])).toEqual([undefined, "undone", "done"]);
});
