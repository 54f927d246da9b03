import { expect, test } from "vitest";
import { createKeys } from "../../src/tui/bindings.ts";
import { widthOf } from "../../src/tui/cells.ts";
import { withinDetail } from "../../src/tui/detail-lines.ts";
import { frameOf, layoutOf } from "../../src/tui/frame.ts";
import { type State, screenNames, tabs } from "../../src/tui/state.ts";
import { rowOf, widthsOf } from "../../src/tui/task-row.ts";
import { update } from "../../src/tui/update.ts";
import { asking, now, plainStyle, row, stateWith, styleOf, withoutStyles } from "./sample.ts";

const keys = createKeys();
const draw = (state: State, style = plainStyle) => frameOf(state, keys, style, ({ type }) => type);
const text = (state: State) => draw(state).map((line) => withoutStyles(line).trimEnd());

const tasks = [
  asking(1, "Which roast?"),
  row(2, {
    doing: "Writing tests",
    lines: { added: 12, removed: 3 },
    checks: "failing",
    cost: { dollars: 1.5, tokens: 9, unknown: 0 },
  }),
  row(3, { group: "queued" }),
  row(4, { group: "over", outcome: "done", status: "done" }),
];

test("tasks are in groups, one line each, and those that are over are folded", () => {
  expect(text(stateWith(tasks)).slice(0, 9)).toEqual([
    "[Tasks] Agents  Events  Problems  Merge line  Usage  coffee        1 need you · 1 running · 1 queued",
    "   TASK      SUMMARY              STATE      FOR  AGENT       WHAT IT DOES …          +/-      COST",
    "Needs you 1",
    "›▲ coffee#1  Summary 1            building    1m              Which roast?",
    "Running 1",
    " ● coffee#2  Summary 2            building    2m              Writing tests        +12/-3     $1.50",
    "Queued 1",
    " ○ coffee#3  Summary 3            building    3m",
    "▸ Over 1",
  ]);
});

test("titles stand above what they are about", () => {
  const [, head = "", , line = ""] = text(stateWith(tasks.slice(1)));
  const texts = { TASK: "coffee#2", SUMMARY: "Summary 2", STATE: "building", WHAT: "Writing tests" };
  for (const [title, cell] of Object.entries(texts))
    expect([title, head.indexOf(title)]).toEqual([title, line.indexOf(cell)]);
  for (const [title, cell] of Object.entries({ FOR: "2m", "+/-": "+12/-3", COST: "$1.50" }))
    expect([title, head.indexOf(title) + title.length]).toEqual([title, line.indexOf(cell) + cell.length]);
});

test("the heading under the cursor is marked and not cut", () => {
  const state = update(
    stateWith([row(4, { group: "over", outcome: "done", status: "done" })]),
    { kind: "key", key: "j" },
    keys,
  )[0];
  expect(text(state)[2]).toBe("›▸ Over 1");
});

test("a task whose merge was undone is shown as undone, without the mark of a task that is done", () => {
  const lineOf = (more: object) => {
    const task = row(4, { group: "over", outcome: "done", status: "done", ...more });
    return withoutStyles(rowOf(task, stateWith([task]), widthsOf([task], 100), plainStyle, 100));
  };
  expect(lineOf({})).toMatch(/✓ coffee#4 .* done /);
  expect(lineOf({ undone: true })).toMatch(/✗ coffee#4 .* undone /);
});

test("every task below Needs you has the mark for that, also if it is held or its session is dead", () => {
  const held = { reason: "Its agent has ended.", word: "error", again: "wait" } as const;
  const waiting = [
    row(1, { group: "needs-me" }),
    row(2, { group: "needs-me", session: "dead" }),
    row(3, { group: "needs-me", session: "dead", held }),
  ];
  expect(text(stateWith(waiting)).slice(2, 6).join("\n")).toMatch(
    /^Needs you 3\n.▲ coffee#1.*\n.▲ coffee#2.*\n.▲ coffee#3/,
  );
});

test("a row says for how long the task has been in its state, not since when it exists or was changed", () => {
  const hour = new Date(now - 3_600_000).toISOString();
  const [line] = text(stateWith([row(1, { since: hour }), row(2, { createdAt: hour, updatedAt: hour })])).filter(
    (each) => each.includes("coffee#1"),
  );
  expect(line).toMatch(/building +1h\b/);
});

test("columns are dropped by rank as the width shrinks, and the summary stays", () => {
  const seen = (columns: number) =>
    text(stateWith(tasks, { columns, share: 0 }))[1]
      ?.trim()
      .split(/ {2,}/);
  expect(seen(200)).toEqual([
    "TASK",
    "SUMMARY",
    "STATE",
    "FOR",
    "AGENT",
    "WHAT IT DOES OR ASKS",
    "+/-",
    "CHECKS",
    "COST",
  ]);
  const narrow = seen(80) ?? [];
  expect(narrow).toContain("SUMMARY");
  expect(narrow).not.toContain("COST");
});

test.each([
  [80, 24],
  [119, 24],
  [120, 40],
  [200, 60],
])("every screen, tab and overlay fills %i × %i exactly", (columns, rows) => {
  const overlays: readonly State["overlay"][] = [
    undefined,
    { kind: "help", line: { text: "", cursor: 0 }, scroll: 0 },
    { kind: "text", title: "T", lines: ["日".repeat(300)], scroll: 0 },
    {
      kind: "peek",
      task: "t1",
      line: { text: "x".repeat(500), cursor: 400 },
      screen: ["\u001b[2Jx", "日".repeat(300)],
    },
  ];
  for (const style of [
    plainStyle,
    styleOf({}),
    styleOf({ depth: 16, isLight: true }),
    styleOf({ isAscii: true, depth: 0 }),
  ])
    for (const screen of screenNames)
      for (const focus of ["list", "detail"] as const)
        for (const tab of tabs)
          for (const overlay of overlays) {
            const state = stateWith(tasks, { columns, rows });
            const detail = state.detail && { ...state.detail, tab, document: "# 日\n".repeat(99) };
            const lines = draw({ ...state, screen, focus, detail, overlay }, style);
            expect(lines).toHaveLength(rows);
            expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
          }
});

test("a terminal that is too small gets one sentence, down to a single cell", () => {
  expect(text(stateWith(tasks, { columns: 79, rows: 24 })).join(" ")).toMatch(
    /^Signalbox needs 80 × 24 .* 79 × 24\. q quits\.$/,
  );
  for (const [columns, rows] of [
    [1, 1],
    [2, 1],
    [1, 9],
    [40, 3],
  ] as const) {
    const lines = draw(stateWith(tasks, { columns, rows }));
    expect(lines.length).toBeLessThanOrEqual(rows);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
  }
});

test("without colour only bold, faint and inverse are used, and in ASCII nothing else than ASCII", () => {
  const lines = draw(stateWith(tasks), styleOf({ depth: 0, isAscii: true }));
  const codes = new Set(
    lines
      .join("")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: SGR sequences.
      .match(/\u001b\[[\d;]*m/g)
      ?.map((code) => code.slice(2, -1)),
  );
  expect([...codes].filter((code) => !["0", "1", "2", "7", "22", "27"].includes(code))).toEqual([]);
  // The middle dots between figures are Latin-1, which each terminal has.
  expect(withoutStyles(lines.join("")).replaceAll("·", "")).toMatch(/^[\x20-\x7e]*$/);
});

test("what is old is marked as old", () => {
  const lines = text(stateWith(tasks, { goneSince: now }));
  expect(lines[0]).toMatch(/old since .*: no daemon$/);
  expect(lines.at(-2)).toMatch(/The daemon does not answer/);
});

test("escape sequences of agents are never drawn", () => {
  const hostile = "\u001b[2J\u001b]0;x\u0007\u202ex\u001b[31mred";
  const state = stateWith([row(1, { summary: hostile, status: hostile, doing: hostile, branch: hostile })]);
  const drawn = draw(state).map(withoutStyles).join("");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be drawn.
  expect(drawn).not.toMatch(/[\u0000-\u001f\u202e]/);
});

test("help is searchable, and names why an action is not allowed", () => {
  const action = {
    name: "merge",
    label: "Merge the task's work",
    key: "m",
    command: "signalbox task merge t1",
    to: "",
    consequence: "none" as const,
    allowed: false,
    why: "Not yet.",
  };
  const state = stateWith(tasks);
  const task = tasks[0] as never;
  const [opened] = update({ ...state, actions: { task, list: [action] } }, { kind: "key", key: "?" }, keys);
  expect(text(opened).join("\n")).toMatch(/m +Merge the task's work — not now: Not yet\./);
  const searched = [..."merge"].reduce((before, key) => update(before, { kind: "key", key }, keys)[0], opened);
  expect(text(searched).join("\n")).toMatch(/Merge the task's work/);
  expect(text(searched).join("\n")).not.toMatch(/next line/);
});

test("the detail is scrolled no further than it goes", () => {
  const state = stateWith(tasks, { columns: 140, rows: 40 });
  const detail = state.detail && {
    ...state.detail,
    tab: "task file" as const,
    document: "line\n".repeat(99),
    scroll: 1e6,
  };
  const { detail: within } = withinDetail({ ...state, detail }, layoutOf(state), plainStyle, () => "");
  expect(within?.scroll).toBe(100 - (40 - 4 - 2));
});
