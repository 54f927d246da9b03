import fc from "fast-check";
import { expect, test } from "vitest";
import type { RunView, UsageRow } from "../../api/agents.ts";
import type { ChildrenView, PartView, TaskView } from "../../api/tasks.ts";
import { createPaint } from "../fast/tell.ts";
import { describeCounts, writePartCounts } from "../parts.ts";
import { writeTeamSummary } from "../team-summary.ts";
import { displayWidth } from "../text.ts";
import type { Frame } from "./rows.ts";
import { createSteadyTexts, endOfTeam, isStuck, type TeamBoard, teamLines, teamTexts } from "./team.ts";

const now = Date.parse("2026-11-15T12:00:00Z");
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString();
const paint = createPaint(false);
const frame: Frame = { columns: 79, rows: 12, paint, now, title: "coffee", trouble: "" };

const part = (item: string, state: PartView["state"], more: Partial<PartView> = {}): PartView => ({
  ...{ id: `id-${item}`, number: 2, item, title: `Build ${item}`, try: 1, status: `SUBTASK_${state.toUpperCase()}` },
  ...{ state, needsPerson: false, why: "", earlier: [], ...more },
});
const children = (...parts: readonly PartView[]): ChildrenView => {
  const count = (state: PartView["state"]) => parts.filter((each) => each.state === state).length;
  const needPerson = parts.filter(({ needsPerson }) => needsPerson).map(({ id }) => id);
  return {
    ...{ checkpoint: "", waiting: count("waiting"), running: count("running"), done: count("done") },
    ...{ failed: count("failed"), skipped: count("skipped"), needPerson, parts: [...parts] },
  };
};
const agent = (item: string, more: Partial<RunView> = {}) =>
  ({
    ...{ id: `${item}/swe`, task: `id-${item}`, role: "swe", key: "swe#1", activity: "busy", since: ago(12) },
    ...{ what: "Editing theme.css", raised: "", ...more },
  }) as RunView;
const used = (key: string, cost: number, unknown = 0): [string, UsageRow] => [
  key,
  {
    key,
    name: key,
    runs: 1 + unknown,
    inputTokens: 900,
    outputTokens: 100,
    cachedTokens: 0,
    cost,
    unknown,
    duration: 1,
  },
];
const task = (more: Partial<TaskView> = {}) =>
  ({
    ...{ id: "aaaaa", project: "coffee", number: 1, summary: "Add dark mode", status: "SUBTASK_IMPLEMENTING" },
    ...{ outcome: null, phase: "waiting", needsPerson: false, needs: [], reason: "", paused: "", prUrl: "" },
    ...{ branch: "swe-team/dark", createdAt: ago(90), updatedAt: ago(0), children: null, ...more },
  }) as TaskView;
const board = (more: Partial<TeamBoard> = {}): TeamBoard => ({
  ...{ task: task(), pullRequest: null, runs: [], usage: new Map(), questions: [], hasPlan: false },
  ...{ waits: [], isStuck: false, neededSince: undefined, notice: "", ...more },
});

const five = children(
  part("theme", "done"),
  part("css", "running", { number: 3 }),
  part("icons", "waiting", { why: 'It needs "css", which is not done.' }),
  part("docs", "failed", { why: "There is no docs folder.", try: 2, earlier: ["old"] }),
  part("menu", "skipped", { why: 'Skipped: it needs "docs", which failed.' }),
);
const busy = board({
  task: task({ children: five }),
  runs: [agent("css")],
  usage: new Map([used("aaaaa", 0.02), used("id-css", 0.05, 1), used("old", 0.13)]),
});

test("the screen shows a bar over the parts, a line for each agent, and what the other parts wait for", () => {
  expect(`\n${teamLines(busy, frame).join("\n")}\n`).toMatchInlineSnapshot(`
    "
    coffee#1  Add dark mode                                    SUBTASK_IMPLEMENTING
    ████████××××××××××××××××▒▒▒▒▒▒▒▒········
    1 of 5 done, 1 working, 1 waiting, 1 failed, 1 skipped · $0.20 + ? · 1m 30s

    ●  css    SUBTASK_RUNNING  12s  $0.050 + ?  Editing theme.css
    ✗  docs   There is no docs folder.
    ◌  icons  It needs "css", which is not done.
    –  menu   Skipped: it needs "docs", which failed.
    ✓  theme  Build theme


    Ctrl-C leaves; the work goes on. All about it: signalbox task show aaaaa
    "
  `);
});

test("a need is shown first, with the command", () => {
  const asking = part("css", "running", { needsPerson: true, why: "Its agent asks something." });
  const lines = teamLines(board({ task: task({ children: children(asking), paused: "coffee is paused." }) }), frame);
  expect(lines.slice(2, 6)).toEqual([
    "coffee is paused.",
    "",
    "!  css: Its agent asks something.",
    "   signalbox task explain id-css",
  ]);
});

test("an agent that has ended leaves the screen, and its part stays", () => {
  const lines = teamLines({ ...busy, runs: [agent("css", { activity: "ended" })] }, frame);
  expect(lines.filter((line) => line.includes("css  "))).toEqual(["●  css    SUBTASK_RUNNING"]);
});

test("with more parts than rows, the rest is counted by state", () => {
  const many = Array.from({ length: 40 }, (_, i) => part(`p${i}`, i < 30 ? "waiting" : "done"));
  const lines = teamLines(board({ task: task({ children: children(...many) }) }), frame);
  expect(lines).toHaveLength(12);
  expect(lines.at(-3)).toBe("… and 24 waiting, 10 done");
});

test("the screen is never higher or wider than the terminal", () => {
  const texts = fc.string({ maxLength: 60 });
  const state = fc.constantFrom<PartView["state"]>("waiting", "running", "done", "failed", "skipped");
  const parts = fc.array(fc.record({ item: texts, why: texts, state, needsPerson: fc.boolean(), works: fc.boolean() }));
  const size = fc.record({ columns: fc.integer({ min: 1, max: 140 }), rows: fc.integer({ min: 1, max: 40 }) });
  fc.assert(
    fc.property(parts, size, texts, (given, { columns, rows }, summary) => {
      const made = given.map(({ works: _, ...each }, i) => ({ ...part(`${i}`, each.state), ...each }));
      const runs = given.flatMap(({ works, why }, i) => (works ? [agent(`${i}`, { what: why })] : []));
      const usage = new Map([used("id-0", 123.45, 1)]);
      const shown = teamLines(board({ task: task({ summary, children: children(...made) }), runs, usage }), {
        ...{ ...frame, columns, rows },
      });
      expect(shown.length).toBeLessThanOrEqual(rows);
      for (const line of shown) expect(displayWidth(line)).toBeLessThanOrEqual(columns);
    }),
  );
});

test("without a terminal there is a line for the task, for each part and for each need", () => {
  const need = {
    reason: "held",
    text: "",
    brief: "The tests cannot be run.",
    command: "signalbox task continue aaaaa",
    since: ago(9),
  };
  const lines = [
    ...teamTexts(board({ task: task({ children: five, needs: [need] as never, needsPerson: true }) })).values(),
  ];
  expect(lines).toEqual([
    "coffee#1  SUBTASK_IMPLEMENTING  1 of 5 done, 1 working, 1 waiting, 1 failed, 1 skipped",
    "theme  SUBTASK_DONE",
    "css  SUBTASK_RUNNING",
    'icons  SUBTASK_WAITING  It needs "css", which is not done.',
    "docs  SUBTASK_FAILED (try 2)  There is no docs folder.",
    'menu  SUBTASK_SKIPPED  Skipped: it needs "docs", which failed.',
    "needs you: The tests cannot be run. → signalbox task continue aaaaa",
  ]);
});

test("a team needs a person only when nothing goes on without one, and not for a moment", () => {
  const stuck = (neededSince: number | undefined) => board({ isStuck: neededSince !== undefined, neededSince });
  expect(endOfTeam(stuck(undefined), now)).toBeUndefined();
  // After a restart the daemon does not find all agents at once.
  expect(endOfTeam(stuck(now - 9_000), now)).toBeUndefined();
  expect(endOfTeam(stuck(now - 10_000), now)).toBe("needs-person");
  const held = (seconds: number) =>
    board({
      task: task({ needsPerson: true, needs: [{ since: ago(99) }] as never }),
      neededSince: now - seconds * 1000,
    });
  expect(endOfTeam(held(1), now)).toBeUndefined();
  expect(endOfTeam(held(3), now)).toBe("needs-person");
  // A question is no passing trouble, and neither is a plan.
  expect(endOfTeam({ ...held(0), questions: [{}] as never }, now)).toBe("needs-person");
  expect(endOfTeam({ ...held(0), hasPlan: true }, now)).toBe("needs-person");
});

test("an idle team is stuck only if a person must act before anything of it goes on", () => {
  const mine = task({ autostart: true, workspace: "", waiting: "" });
  const other = (needsPerson: boolean) => task({ id: "other", workspace: "/w", needsPerson, part: null });
  const ofPlan = (slot: number | null, more: Partial<TaskView>) =>
    task({ id: "p", parent: "aaaaa", part: { slot } as never, workspace: "", waiting: "", ...more });
  const full = [{ reason: "All workspaces of coffee are taken (1).", fix: "" }];
  type Near = Parameters<typeof isStuck>[1];
  const near = (open: readonly TaskView[], waits: Near["waits"], more: Partial<Near> = {}): Near => ({
    ...{ open, waits, runs: [], poolSize: 1, ...more },
  });
  expect(isStuck(mine, near([mine, other(true)], full))).toBe(true);
  // Another workspace of the pool is with a task that gets it just now, or gives it back.
  expect(isStuck(mine, near([mine, other(true)], full, { poolSize: 2 }))).toBe(false);
  // An agent of a task that needs a person is at work all the same.
  const busy = { runs: [agent("x", { task: "other" })] };
  expect(isStuck(mine, near([mine, other(true)], full, busy))).toBe(false);
  expect(isStuck(mine, near([mine, other(true)], []))).toBe(false);
  expect(isStuck(mine, near([mine, other(false)], full))).toBe(false);
  expect(isStuck(mine, near([mine], full))).toBe(false);
  expect(isStuck({ ...mine, waiting: "The provider refuses until 12:00." }, near([other(true)], full))).toBe(false);
  expect(isStuck({ ...mine, paused: "coffee is paused." }, near([mine], []))).toBe(true);
  expect(isStuck({ ...mine, autostart: false, previousStatus: "" }, near([mine], full))).toBe(true);
  const needing = ofPlan(1, { workspace: "/w", needsPerson: true });
  expect(isStuck(mine, near([mine, needing, ofPlan(null, {})], []))).toBe(true);
  expect(isStuck(mine, near([mine, needing, ofPlan(2, {})], []))).toBe(true);
  expect(isStuck(mine, near([mine, needing, ofPlan(2, { waiting: "No seat is free." })], []))).toBe(false);
  expect(isStuck(mine, near([mine, needing, ofPlan(2, {}), other(false)], []))).toBe(false);
  expect(isStuck(mine, near([mine, ofPlan(null, {}), other(true)], full))).toBe(false);
});

test("a waiting run says why, and what a person can do about it", () => {
  const fix = "Merge or cancel a task that has one.\nOr allow more: signalbox project update coffee --pool-size 2";
  const waiting = board({
    task: task({ status: "QUEUED" }),
    waits: [{ reason: "All workspaces of coffee are taken (1).", fix }],
    notice: "coffee has room for 1 workspace.",
  });
  expect(teamLines(waiting, frame).slice(2, 7)).toEqual([
    ...["coffee has room for 1 workspace.", "", "◌  All workspaces of coffee are taken (1)."],
    ...["   Merge or cancel a task that has one.", "   Or allow more: signalbox project update coffee --pool-size 2"],
  ]);
  expect([...teamTexts(waiting).values()]).toEqual([
    "coffee#1  QUEUED",
    `waits: All workspaces of coffee are taken (1). → ${fix.replace("\n", " → ")}`,
  ]);
  expect(writeTeamSummary(waiting, "needs-person", { paint, columns: 80 })).toContain(
    `All workspaces of coffee are taken (1).\n  ${fix.replace("\n", "\n  ")}\n`,
  );
});

test("a need that passes is not printed, and one that lasts is printed once it has lasted", () => {
  let time = now;
  const texts = createSteadyTexts(() => time);
  const needing = board({
    task: task({ children: children(part("css", "running", { needsPerson: true, why: "Its agent died." })) }),
  });
  const line = "needs you: css: Its agent died. → signalbox task explain id-css";
  expect([...texts(needing).values()]).not.toContain(line);
  expect(texts(needing).get("css")).toBe("css  SUBTASK_RUNNING");
  time += 2_000;
  texts(busy);
  expect([...texts(needing).values()]).not.toContain(line);
  time += 2_000;
  expect([...texts(needing).values()]).toContain(line);
});

test("a part that needs a person is not counted as working too", () => {
  const needing = part("a", "running", { needsPerson: true });
  const of = children(needing, part("b", "running"), part("c", "waiting"));
  expect(describeCounts(of)).toBe("0 of 3 done, 1 working, 1 waiting, 1 needs you");
  expect(writePartCounts(of)).toBe("●1 ◌1 !1");
});

test("the work is over when its last effects are carried out", () => {
  expect(endOfTeam(board({ task: task({ outcome: "done", phase: "doing" }) }), now)).toBeUndefined();
  expect(endOfTeam(board({ task: task({ outcome: "failed", phase: "over" }) }), now)).toBe("failed");
  // Effects that have failed wait for a person, and nobody waits for them here.
  expect(endOfTeam(board({ task: task({ outcome: "failed", phase: "doing", needsPerson: true }) }), now)).toBe(
    "failed",
  );
});

test("the name of a part is one line, whatever it contains", () => {
  const name = "css\ndocs  SUBTASK_DONE\u001b[2J";
  const forged = part(name, "failed", { id: "b1111", needsPerson: true, why: "No." });
  const over = board({ task: task({ children: children(forged), outcome: "failed", phase: "over" }) });
  const texts = [
    ...teamTexts(over).values(),
    ...writeTeamSummary(over, "failed", { paint, columns: 80 }).split("\n"),
    ...writeTeamSummary(over, "needs-person", { paint, columns: 80 }).split("\n"),
    ...teamLines(over, frame),
    ...teamLines(board({ ...over, task: task({ children: children({ ...forged, needsPerson: false }) }) }), frame),
  ];
  expect(texts.filter((line) => line.startsWith("docs") || line.includes("\n") || line.includes("\u001b"))).toEqual([]);
});

test("a task that is done without all of its parts is done in part", () => {
  const over = (...parts: readonly PartView[]) =>
    endOfTeam(board({ task: task({ outcome: "done", phase: "over", children: children(...parts) }) }), now);
  expect(over(part("a", "done"), part("b", "done"))).toBe("done");
  expect(over(part("a", "done"), part("b", "failed"))).toBe("partly-done");
  expect(over(part("a", "done"), part("b", "skipped"))).toBe("partly-done");
});

test("the summary names what was done, what was not and why, the branch, the cost and the next command", () => {
  const over = { ...busy, task: task({ children: five, outcome: "done", phase: "over", workflow: "team" }) };
  expect(`\n${writeTeamSummary(over, "partly-done", { paint, columns: 80 })}\n`).toMatchInlineSnapshot(`
    "
    Done in part, 1 of 5 parts: coffee#1 Add dark mode
      parts         1 of 5 done, 1 working, 1 waiting, 1 failed, 1 skipped
      branch        swe-team/dark
      cost          $0.20 + ?, 3k tokens in 4 agent runs
      took          1m 30s

      ✓  theme  Build theme
      ●  css    Build css. It is in SUBTASK_RUNNING.
      ◌  icons  Build icons. It needs "css", which is not done.
      ✗  docs   Build docs (2 tries). There is no docs folder.
      –  menu   Build menu. Skipped: it needs "docs", which failed.

    To see the work:
      signalbox task diff aaaaa
    To merge it into the branch that you have checked out:
      signalbox task fetch aaaaa && git merge swe-team/dark
    To build the missing parts on top of it:
      signalbox run --from aaaaa
    "
  `);
});

test("the summary says which done parts have findings that were only noted", () => {
  const noted = children(part("theme", "done", { why: "1 small finding is noted: signalbox task findings id-theme" }));
  const over = board({ task: task({ children: noted, outcome: "done", phase: "over" }) });
  expect(writeTeamSummary(over, "done", { paint, columns: 100 })).toContain(
    "✓  theme  Build theme. 1 small finding is noted: signalbox task findings id-theme",
  );
});

test("the next command depends on the end: the pull request, the history, or what a person must do", () => {
  const write = (more: Partial<TaskView>, end: Parameters<typeof writeTeamSummary>[1]) =>
    writeTeamSummary(board({ task: task(more) }), end, { paint, columns: 80 });
  const untested = writeTeamSummary(board(), "done", { paint, columns: 80 }, "Nothing was tested.");
  expect(untested).toMatch(/^ {2}tests +Nothing was tested\.$/m);
  expect(write({ prUrl: "https://forge/7" }, "done")).toContain("To review and merge it:\n  https://forge/7");
  const failed = write({ reason: "No part was done." }, "failed");
  expect(failed).toMatch(/because +No part was done\.[\s\S]*signalbox task history aaaaa$/);
  // Nothing is committed, so there is nothing to continue from.
  expect(failed).not.toContain("--from");
  expect(write({ children: children(part("theme", "done")) }, "failed")).toContain("signalbox run --from aaaaa");
  const needs = [{ brief: "Allow full permissions", command: "signalbox project update coffee" }] as never;
  expect(write({ needs, needsPerson: true }, "needs-person")).toMatch(
    /Allow full permissions\n {2}signalbox project update coffee\n[\s\S]*signalbox run --resume aaaaa$/,
  );
});
