import { expect, test } from "vitest";
import { shellWord } from "./shell-word.ts";
import { writeTable } from "./table.ts";
import { visible } from "./visible.ts";
import { cut, fitted, wrap, wrapMessage } from "./wrap.ts";
import { writeJson } from "./write-json.ts";

test("text is broken between words, and what follows is indented", () => {
  expect(wrap("one two three four", 9, "  ")).toBe("one two\n  three\n  four");
  expect(wrap("There is none.\nMake one first", 14, "  ")).toBe("There is none.\n  Make one first");
  expect(wrap("unbreakable", 3)).toBe("unbreakable");
  expect(cut("a long sentence", 7)).toBe("a long…");
});

test("a quote or a bracket around a command stays with it", () => {
  const text = "Install it with `npm install -g coffee`, then brew (signalbox task list) once.";
  expect(wrapMessage(text, 200)).toBe(text);
  expect(wrapMessage(text, 20)).toBe(
    "Install it with\n`npm install -g coffee`,\nthen brew\n(signalbox task list)\nonce.",
  );
});

test("columns are aligned, and the last one goes on below", () => {
  const columns = [{ title: "NAME" }, { title: "N", align: "right" }, { title: "TEXT" }] as const;
  const rows = [
    ["a", "1", "one two three four five six"],
    ["longer", "12", ""],
  ];
  expect(writeTable(columns, rows, 37)).toBe(
    "NAME     N  TEXT\na        1  one two three four five\n            six\nlonger  12",
  );
});

test("columns for which there is no room stand below their row, and neither paths nor commands are broken", () => {
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

test("what a terminal would obey is taken out, and plain colours stay", () => {
  expect(visible("a\u001b[31mred\u001b[39m\u001b[2J\u001b]0;x\u0007\tb\n\u009b1m")).toBe(
    "a\u001b[31mred\u001b[39m[2J]0;x\tb\n1m",
  );
});

test("JSON has every key, and no raw control characters", () => {
  expect(writeJson({ a: undefined, b: "\u009b" })).toBe('{\n  "a": null,\n  "b": "\\u009b"\n}');
});

test("a path can be pasted into a shell", () => {
  expect(shellWord("found/a-1.json")).toBe("found/a-1.json");
  expect(shellWord("it's here")).toBe("'it'\\''s here'");
});

test("talk is broken between words, keeps its blanks and colours, and leaves commands whole", () => {
  const talk = "It has no commit, and agents need one. Make one, then call signalbox again:";
  expect(fitted(talk, 67)).toBe("It has no commit, and agents need one. Make one, then call\nsignalbox again:");
  expect(fitted("  signalbox task actions ID  what you can do (2 tasks in need of you)", 60)).toBe(
    "  signalbox task actions ID  what you can do (2 tasks in\n    need of you)",
  );
  const coloured = '  \u001b[36msignalbox task create "What is to be done"\u001b[39m  give it something to do';
  expect(fitted(coloured, 80)).toBe(coloured);
  expect(fitted(coloured, 30).split("\n")).toContain(
    '  \u001b[36msignalbox task create "What is to be done"\u001b[39m',
  );
  const printed = "  printf -- '---\\nstatus: open' > /a/very/long/folder/first.md";
  expect(fitted(printed, 20)).toBe(printed);
});
