import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunView, UsageRow } from "../../api/agents.ts";
import type { TaskView } from "../../api/tasks.ts";
import { createPaint } from "../fast/tell.ts";
import { displayWidth } from "../text.ts";
import type { Board } from "./live.ts";
import { type Frame, watchLines } from "./rows.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
const frame: Frame = { columns: 79, rows: 14, paint: createPaint(false), now, title: "coffee", trouble: "" };
const empty: Board = {
  ...{ tasks: [], runs: [], usage: new Map(), needs: new Map(), paused: { all: false, projects: [] } },
};

const task = (id: string, more: Partial<TaskView> = {}) =>
  ({
    ...{ id, project: "coffee", number: 1, summary: `About ${id}`, status: "brewing", outcome: null },
    ...{ session: "alive", needsPerson: false, createdAt: ago(90), parent: "", part: null, children: null, ...more },
  }) as TaskView;
const run = (of: string, more: Partial<RunView> = {}) =>
  ({
    ...{ id: `${of}/worker#1`, task: of, key: "worker#1", role: "worker", activity: "busy", since: ago(12) },
    ...{ what: "Reading recipe.md", raised: "", ...more },
  }) as RunView;
const used = (key: string): UsageRow => ({
  ...{ key, name: key, runs: 1, inputTokens: 34_000, outputTokens: 500, cachedTokens: 0, cost: 1.2 },
  ...{ unknown: 0, duration: 1 },
});

const board: Board = {
  ...empty,
  tasks: [
    task("aaaaa", { createdAt: ago(5) }),
    task("bbbbb", { summary: "コーヒーをもっと強くする" }),
    task("ccccc", { needsPerson: true, status: "tasting" }),
    task("ddddd", { outcome: "done", status: "served" }),
  ],
  runs: [run("bbbbb")],
  usage: new Map([["bbbbb", used("bbbbb")]]),
  needs: new Map([["ccccc", { reason: "Taste it", command: "signalbox task approve ccccc" }]]),
};

test("tasks that need a person come first, with the command; then working ones, with their last message; ended ones come last", () => {
  expect(`\n${watchLines(board, frame).join("\n")}\n`).toMatchInlineSnapshot(`
    "
    coffee  3 open · 1 needs you · 1 agent at work · 34k tokens · $1.20

       ID     STATUS   SUMMARY               AGENT             AGE  TOKENS     COST
    !  ccccc  tasting  About ccccc           –                  1m       –        –
       Taste it → signalbox task approve ccccc
    ●  bbbbb  brewing  コーヒーをもっと強…   worker busy 12s    1m     34k    $1.20
       Reading recipe.md
       aaaaa  brewing  About aaaaa           –                  5s       –        –
    ✓  ddddd  served   About ddddd           –                  1m       –        –




    q leave   signalbox task actions ID: what you can do
    "
  `);
});

test("an empty screen says how to begin", () => {
  const lines = watchLines(empty, frame).join("\n");
  expect(lines).toContain('signalbox task create "What is to be done"');
});

test("problems and a pause are shown at the top", () => {
  expect(watchLines(empty, { ...frame, trouble: "The daemon is gone." })[1]).toBe("The daemon is gone.");
  expect(watchLines({ ...empty, paused: { all: true, projects: [] } }, frame)[1]).toContain("signalbox resume --all");
});

test("on a small screen needs are kept, messages are dropped, and the remaining tasks are counted", () => {
  const many = Array.from({ length: 9 }, (_, i) => task(`task${i}`));
  const needs = new Map([["task4", { reason: "Taste it", command: "signalbox task approve task4" }]]);
  const crowded = { ...empty, tasks: many, runs: many.map(({ id }) => run(id)), needs };
  const lines = watchLines(crowded, { ...frame, rows: 14 });
  expect(lines[3]).toMatch(/^! {2}task4/);
  expect(lines[4]).toContain("signalbox task approve task4");
  expect(watchLines(crowded, { ...frame, rows: 9 }).at(-2)).toBe("… 5 more: signalbox task list");
});

test("an agent's message cannot leave its line", () => {
  const rude = { ...board, runs: [run("bbbbb", { what: "one\ntwo\u001b[2J\u001b]0;owned\u0007three" })] };
  const lines = watchLines(rude, frame);
  expect(lines.join("")).toContain("one twothree");
  expect(lines).toHaveLength(frame.rows);
  const needs = new Map([["ccccc", { reason: "It asks:\n\u001b[2JWhich?", command: "" }]]);
  expect(watchLines({ ...board, needs }, frame)).toContain("   It asks: Which?");
});

test("the screen is never higher or wider than the terminal, with colours or without", () => {
  const text = fc.string({ unit: fc.constantFrom("a", " ", "é", "コ", "🚂", "\n"), maxLength: 60 });
  const tasks = fc.array(fc.record({ summary: text, reason: text, what: text, isNeeded: fc.boolean() }), {
    maxLength: 12,
  });
  const size = fc.record({ columns: fc.integer({ min: 1, max: 140 }), rows: fc.integer({ min: 1, max: 30 }) });
  fc.assert(
    fc.property(tasks, size, fc.boolean(), (given, { columns, rows }, hasColour) => {
      const made: Board = {
        ...empty,
        tasks: given.map(({ summary }, i) => task(`t${i}`, { summary, project: i % 2 ? "tea" : "coffee" })),
        runs: given.map(({ what }, i) => run(`t${i}`, { what })),
        usage: new Map(given.map((_, i) => [`t${i}`, used(`t${i}`)])),
        needs: new Map(
          given.flatMap(({ reason, isNeeded }, i) =>
            isNeeded ? [[`t${i}`, { reason, command: `signalbox task answer t${i}` }] as const] : [],
          ),
        ),
      };
      const lines = watchLines(made, { ...frame, columns, rows, paint: createPaint(hasColour) });
      expect(lines.length).toBeLessThanOrEqual(rows);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: colours take no room.
      for (const line of lines) expect(displayWidth(line.replace(/\u001b\[[\d;]+m/g, ""))).toBeLessThanOrEqual(columns);
    }),
  );
});

test("idle agents do not count as at work, and an unreported cost is called unknown", () => {
  const idle = {
    ...board,
    runs: [run("aaaaa", { activity: "idle" }), run("bbbbb", { activity: "idle" }), run("ccccc")],
  };
  const usage = new Map([["bbbbb", { ...used("bbbbb"), cost: 0, unknown: 1 }]]);
  expect(watchLines({ ...idle, usage }, { ...frame, columns: 100 })[0]).toBe(
    "coffee  3 open · 1 needs you · 1 agent at work · 2 idle · 34k tokens · cost unknown",
  );
});

test("parts are below their parent, which goes where the most urgent of them would be; parts that are done are only counted", () => {
  const parts = [
    { state: "done" },
    { state: "running", needsPerson: true },
    { state: "running" },
    { state: "waiting" },
  ];
  const plan = { parts, done: 1, running: 2, waiting: 1, failed: 0, skipped: 0, needPerson: ["part2"] };
  const part = (id: string, number: number, more: Partial<TaskView> = {}) =>
    task(id, { parent: "whole", number, part: { slot: number } as TaskView["part"], ...more });
  const tasks = [
    part("part1", 2, { outcome: "done" }),
    part("part2", 3),
    part("part3", 4),
    task("whole", { children: plan as unknown as TaskView["children"] }),
    task("other", { createdAt: ago(1) }),
  ];
  const needs = new Map([["part2", { reason: "Taste it", command: "signalbox task approve part2" }]]);
  const lines = watchLines({ ...empty, tasks, needs, runs: [run("other"), run("part3")] }, frame);
  const shown = lines.flatMap((line) => /^. {2}((?:└ )?(?:whole|other|part\d))/.exec(line)?.[1] ?? []);
  expect(shown).toEqual(["whole", "└ part2", "└ part3", "other"]);
  expect(lines.find((line) => line.includes("whole"))).toContain("✓1 ●1 ◌1 !1");
});

test("no figure is cut on a terminal of any width: a column without room is left out", () => {
  const usage = new Map([
    ["aaaaa", { ...used("aaaaa"), runs: 3, unknown: 1, cost: 0.1 }],
    ["bbbbb", { ...used("bbbbb"), runs: 3, unknown: 1, cost: 1234.5, inputTokens: 123_456_789 }],
  ]);
  for (let columns = 20; columns <= 120; columns++) {
    const lines = watchLines({ ...board, usage }, { ...frame, columns });
    expect(lines.filter((line) => /[$\d.+]…|\$…/.test(line))).toEqual([]);
    expect(lines.every((line) => displayWidth(line) <= columns)).toBe(true);
  }
  expect(watchLines({ ...board, usage }, { ...frame, columns: 100 }).join("\n")).toMatch(
    /\$1234\.50\+\?\n[\s\S]* \$0\.10\+\?\n/,
  );
});

test("the hints name the terminal of an agent only where one can have a terminal", () => {
  const last = (runs: readonly RunView[]) => watchLines({ ...board, runs }, { ...frame, columns: 200 }).at(-1);
  expect(last([run("bbbbb", { mode: "session" })])).toContain("task attach ID");
  expect(last([run("bbbbb", { mode: "turn" })])).toContain("signalbox task logs ID");
  expect(last([run("bbbbb", { mode: "turn" })])).not.toContain("attach");
});
