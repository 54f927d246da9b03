import { expect, test } from "vitest";
import { toolClasses } from "../../../ports/harness.ts";
import { reducedCommand } from "../reduced-commands.ts";
import { answerPermission } from "./answer-permission.ts";
import type { PermissionRules } from "./bridge-order.ts";

const options = [
  { optionId: "always", kind: "allow_always" },
  { optionId: "once", kind: "allow_once" },
  { optionId: "no", kind: "reject_once" },
];
const full: PermissionRules = { classes: toolClasses, reduced: undefined };
const commands = reducedCommand({ cli: "signalbox", testCommand: ["npm", "test"] }).source;
const reduced: PermissionRules = {
  classes: toolClasses,
  reduced: { commands, folder: "/workspace", taskFile: "/workspace/TASK.md" },
};
const answer = (toolCall: unknown, rules: PermissionRules) => {
  const { outcome } = answerPermission({ toolCall, options }, rules) as { outcome: { optionId?: string } };
  return outcome.optionId;
};

test("with full permissions everything is allowed, once", () => {
  expect(answer({ kind: "execute", title: "rm -rf ." }, full)).toBe("once");
  expect(answer({ kind: "something new" }, full)).toBe("once");
});

test("a class that was not asked for is refused", () => {
  expect(answer({ kind: "execute", title: "ls" }, { classes: ["read"], reduced: undefined })).toBe("no");
});

test.each([
  [{ kind: "read", title: "a.txt" }, "once"],
  [{ kind: "execute", rawInput: { command: "git log -1" } }, "once"],
  [{ kind: "execute", title: "npm test" }, "once"],
  [{ kind: "execute", title: "git log …" }, "no"],
  [{ kind: "execute", title: "git log", rawInput: { command: "git push" } }, "no"],
  [{ kind: "edit", locations: [{ path: "/workspace/TASK.md" }] }, "once"],
  [{ kind: "edit", rawInput: { file_path: "TASK.md" } }, "once"],
  [{ kind: "edit", locations: [{ path: "TASK.md" }, { path: "a.txt" }] }, "no"],
  [{ kind: "edit", title: "TASK.md" }, "no"],
  [{ kind: "delete", locations: [{ path: "/workspace/TASK.md" }] }, "no"],
  [{ kind: "fetch", title: "https://example.org" }, "no"],
  [{ kind: "other", title: "mcp__signalbox__task_update" }, "once"],
  [{ kind: "other", title: "comment (signalbox MCP Server)" }, "once"],
  [{ kind: "other", title: "comment (signalbox-too MCP Server)" }, "no"],
  [{ kind: "execute", title: "signalbox task update && touch x" }, "no"],
  [{ kind: "other", title: "spawn" }, "no"],
  [{}, "no"],
])("with reduced permissions %j is answered with %s", (call, chosen) => expect(answer(call, reduced)).toBe(chosen));

test("where no answer says no, the question is called off", () => {
  const params = { toolCall: { kind: "fetch" }, options: [{ optionId: "once", kind: "allow_once" }] };
  expect(answerPermission(params, reduced)).toEqual({ outcome: { outcome: "cancelled" } });
});
