import fc from "fast-check";
import { expect, test } from "vitest";
import { visible } from "./fast/tell.ts";
import { writeTable } from "./tables.ts";
import {
  clip,
  cut,
  displayWidth,
  fill,
  fitted,
  shownOutput,
  wrap,
  wrapMessage,
  writeCost,
  writeCosts,
  writeDuration,
  writeJson,
  writeTokens,
} from "./text.ts";

test("text is wrapped between words, and the following lines are indented", () => {
  expect(wrap("one two three four", 9, "  ")).toBe("one two\n  three\n  four");
  expect(wrap("There is none.\nMake one first", 14, "  ")).toBe("There is none.\n  Make one first");
  expect(wrap("unbreakable", 3)).toBe("unbreakable");
  expect(cut("a long sentence", 7)).toBe("a long…");
});

test("a name with a line break is one row of a table", () => {
  const columns = [{ title: "NAME" }, { title: "FROM" }];
  expect(writeTable(columns, [["a\nforged  row", "project"]], 80).split("\n")).toHaveLength(2);
});

test("a quote or a bracket around a command stays with it", () => {
  const text = "Install it with `npm install -g coffee`, then brew (signalbox task list) once.";
  expect(wrapMessage(text, 200)).toBe(text);
  expect(wrapMessage(text, 20)).toBe(
    "Install it with\n`npm install -g coffee`,\nthen brew\n(signalbox task list)\nonce.",
  );
});

test("columns are aligned, and the last one is wrapped", () => {
  const columns = [{ title: "NAME" }, { title: "N", align: "right" }, { title: "TEXT" }] as const;
  const rows = [
    ["a", "1", "one two three four five six"],
    ["longer", "12", ""],
  ];
  expect(writeTable(columns, rows, 37)).toBe(
    "NAME     N  TEXT\na        1  one two three four five\n            six\nlonger  12",
  );
});

test("a path with a line break stays on one line of its table, and a text may have several", () => {
  const rows = [["coffee", "/home/ann/cof\nfee  forged"]];
  expect(writeTable([{ title: "NAME" }, { title: "PATH" }], rows, 80)).toBe(
    "NAME    PATH\ncoffee  /home/ann/cof fee  forged",
  );
  expect(writeTable([{ title: "NAME" }, { title: "PATH" }], rows, 24).split("\n")).toEqual([
    "NAME",
    "coffee",
    "    path  /home/ann/cof",
    "          fee  forged",
  ]);
  expect(writeTable([{ title: "NAME" }, { title: "WHY", isText: true }], rows, 80).split("\n")).toHaveLength(3);
});

test("columns without room go below their row, and neither paths nor commands are broken", () => {
  const columns = [{ title: "NAME" }, { title: "KIND" }, { title: "PATH" }, { title: "WHY", isText: true }] as const;
  const why = "It is broken. To see more: signalbox workspace list --project coffee";
  const rows = [
    ["coffee", "clone", "/home/ann/projects/coffee", why],
    ["茶", "worktree", "–", ""],
  ];
  expect(writeTable(columns, rows, 30)).toBe(
    [
      "NAME    KIND",
      "coffee  clone",
      "    path  /home/ann/projects/coffee",
      "    It is broken. To see more:",
      "    signalbox workspace list --project coffee",
      "茶      worktree",
    ].join("\n"),
  );
  expect(writeTable(columns, rows, Number.POSITIVE_INFINITY).split("\n")).toHaveLength(3);
});

test("terminal control sequences are removed, colours too", () => {
  expect(visible("a\u001b[31mred\u001b[39m\u001b[2J\u001b]0;x\u0007\tb\n\u009b1m")).toBe("a[31mred[39m[2J]0;x\tb\n1m");
});

test("JSON has every key, and no raw control characters", () => {
  expect(writeJson({ a: undefined, b: "\u009b" })).toBe('{\n  "a": null,\n  "b": "\\u009b"\n}');
});

test("messages are wrapped between words, keep their indentation and colours, and leave commands whole", () => {
  const talk = "It has no commit, and agents need one. Make one, then call signalbox again:";
  expect(fitted(talk, 67)).toBe("It has no commit, and agents need one. Make one, then call\nsignalbox again:");
  expect(fitted("  signalbox task actions ID  what you can do (2 tasks in need of you)", 60)).toBe(
    "  signalbox task actions ID  what you can do (2 tasks in\n    need of you)",
  );
  const coloured = '  \u001b[36msignalbox task create "What is to be done"\u001b[39m  create a task';
  expect(fitted(coloured, 80)).toBe(coloured);
  expect(fitted(coloured, 30).split("\n")).toContain(
    '  \u001b[36msignalbox task create "What is to be done"\u001b[39m',
  );
  const printed = "  printf -- '---\\nstatus: open' > /a/very/long/folder/first.md";
  expect(fitted(printed, 20)).toBe(printed);
});

test("some characters take two columns, some take none", () => {
  expect(["abc", "é", "e\u0301", "コーヒー", "한국", "☕ ok", "🚂", "\u200b"].map(displayWidth)).toEqual([
    ...[3, 1, 1, 8, 4, 4, 2, 0],
  ]);
});

test("text in any script is cut if it is too long, and padded if it is too short", () => {
  expect(clip("Make it stronger", 8)).toBe("Make it…");
  expect(clip("コーヒー", 6)).toBe("コー…");
  expect(fill("コーヒー", 6)).toBe("コー… ");
  const anything = fc.string({ unit: fc.constantFrom("a", " ", "é", "コ", "🚂", "\u0301") });
  fc.assert(
    fc.property(anything, fc.integer({ min: 1, max: 12 }), (text, width) => {
      expect(displayWidth(fill(text, width))).toBe(width);
      expect(displayWidth(clip(text, width))).toBeLessThanOrEqual(width);
    }),
  );
});

const hostile =
  "\u001b]0;owned\u0007a\u001b[2J\u001b[31;1mred\u001b[0m\u001b]8;;http://x\u001b\\link\u0007\u009b5n\u0000b";

test("an agent's output is shown without terminal control sequences", () => {
  expect(shownOutput(hostile, false)).toBe("aredlinkb");
});

test("with styles, only colours and styles are kept, and they end with the text", () => {
  expect(shownOutput(hostile, true)).toBe("a\u001b[31;1mred\u001b[0mlinkb\u001b[0m");
});

test.each([
  ["conceal", "a\u001b[8mhidden\u001b[28mb", "ahidden\u001b[28mb\u001b[0m"],
  ["conceal among others", "\u001b[1;8;31mx", "\u001b[1;31mx\u001b[0m"],
  ["a foreground in its background's colour", "\u001b[31;41mx", "\u001b[31;41;39;49mx\u001b[0m"],
  ["the same in two sequences", "\u001b[44my\u001b[38;5;4mx", "\u001b[44my\u001b[38;5;4;39;49mx\u001b[0m"],
  ["nearly the same", "\u001b[48;2;10;20;30;38;2;12;22;32mx", "\u001b[48;2;10;20;30;38;2;12;22;32;39;49mx\u001b[0m"],
  [
    "with colons",
    "\u001b[48:2::10:20:30m\u001b[38:2:10:20:30mx",
    "\u001b[48;2;10;20;30m\u001b[38;2;10;20;30;39;49mx\u001b[0m",
  ],
  ["black on nothing", "\u001b[30mx", "\u001b[30;39;49mx\u001b[0m"],
  ["small letters and fonts", "\u001b[74mx\u001b[11my", "xy\u001b[0m"],
  ["a zero-width space", "\u001b[32mpa\u200bss", "\u001b[32mpass\u001b[0m"],
])("styles that hide text are removed: %s", (_, text, shown) => {
  expect(shownOutput(text, true)).toBe(shown);
});

test.each([
  "\u001b[1;31mred\u001b[0m",
  "\u001b[97;44mwhite on blue\u001b[0m",
  "\u001b[30;47mblack on white\u001b[0m",
  "\u001b[38;5;208;48;5;236morange on grey\u001b[39;49mx",
  "\u001b[7mreverse\u001b[27m\u001b[4munder\u001b[24m",
])("styles that hide nothing are kept: %j", (text) => {
  expect(shownOutput(text, true)).toBe(`${text}\u001b[0m`);
});

test("a colour inside a title sequence does not let the title through", () => {
  expect(shownOutput("\u001b]0;ti\u001b[31mtle\u0007x", true)).toBe("\u001b[31mtlex\u001b[0m");
});

test("an unreported cost is shown as unknown, not as $0", () => {
  expect([writeCost(null), writeCost(0), writeCost(0.012), writeCost(12.5)]).toEqual([
    "?",
    "$0.00",
    "$0.012",
    "$12.50",
  ]);
  expect(writeCosts({ cost: 0, runs: 2, unknown: 2 })).toBe("?");
  expect(writeCosts({ cost: 1.2, runs: 3, unknown: 1 })).toBe("$1.20 + ?");
  expect(writeCosts({ cost: 1.2, runs: 3, unknown: 0 })).toBe("$1.20");
});

test("tokens and durations are shown in a suitable unit", () => {
  expect([0, 999, 1_000, 1_250, 45_900, 2_000_000].map(writeTokens)).toEqual(["0", "999", "1k", "1.3k", "45k", "2M"]);
  expect([900, 59_400, 200_000, 7_500_000].map(writeDuration)).toEqual(["1s", "59s", "3m 20s", "2h 05m"]);
});
