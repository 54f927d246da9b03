import { expect, test } from "vitest";
import { chooseTools, tools } from "./tools.ts";

const read = (names: readonly string[]) => {
  const { classes, tools: chosen, own, isLimited } = chooseTools(names);
  return { classes: [...classes].join(), tools: chosen.join(), own: own?.join(), isLimited };
};

test("without a list a run has every tool", () => {
  const all = chooseTools(undefined);
  expect(all).toMatchObject({ tools, own: undefined, isLimited: false });
  expect([...all.classes]).toEqual(["read", "write", "execute", "web"]);
});

test.each([
  [["Read"], "read", "Read", undefined],
  [["read"], "read", "Read,Glob,Grep", undefined],
  [["write", "Bash"], "write,execute", "Write,Edit,Bash", undefined],
  [["BASH", "run_shell_command"], "execute", "Bash", undefined],
  [["grep_search", "LS", "MultiEdit", "web_fetch"], "read,write,web", "Glob,Grep,Edit,WebFetch", undefined],
  [["comment", "Read", "work_complete"], "read", "Read", "comment,work_complete"],
  [["mcp__signalbox__comment", "mcp__other__look"], "", "", "comment,mcp__other__look"],
  [[], "", "", undefined],
] as const)("%j is %s: %s, and of ours %s", (names, classes, chosen, own) => {
  const found = read(names);
  expect([found.classes.split(",").sort().join(), found.tools, found.own]).toEqual([
    classes.split(",").sort().join(),
    chosen,
    own,
  ]);
  expect(found.isLimited).toBe(true);
});

test("a list of all classes limits nothing, unless it also names tools of ours", () => {
  expect(read(["read", "write", "execute", "web"]).isLimited).toBe(false);
  expect(read(["read", "write", "execute", "web", "comment"])).toMatchObject({ isLimited: true, own: "comment" });
});
