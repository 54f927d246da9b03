import { expect, test } from "vitest";
import type { Agents } from "../agents/agents.ts";
import { noticeRuns } from "./needs.ts";

test("a run is reported when its activity, question or error changes, and not at every check", () => {
  const noticed: string[] = [];
  let look = (_run: string) => {};
  let signs: object = {};
  let trouble: object | undefined;
  const agents = {
    follow(tell: (run: string) => void) {
      look = tell;
      return () => {};
    },
    watchOf: () => ({ run: { task: "t1" }, signs }),
    terminalTrouble: () => trouble,
  } as unknown as Agents;
  noticeRuns(agents, (task) => noticed.push(task));
  const shown = (next: object) => {
    signs = next;
    const before = noticed.length;
    for (const _ of [1, 2]) look("t1/worker#1");
    return noticed.length - before;
  };
  expect(shown({ activity: "busy", what: "reads" })).toBe(1);
  expect(shown({ activity: "busy", what: "writes" })).toBe(0);
  expect(shown({ activity: "asks", what: "May I read?" })).toBe(1);
  expect(shown({ activity: "asks", what: "May I write?" })).toBe(1);
  expect(shown({ activity: "asks", what: "May I write?", error: { kind: "other", message: "No." } })).toBe(1);
  trouble = { reason: "The terminal server has not answered.", fix: "" };
  expect(shown({ activity: "busy", what: "reads" })).toBe(1);
  trouble = undefined;
  expect(shown({ activity: "busy", what: "reads" })).toBe(1);
});
