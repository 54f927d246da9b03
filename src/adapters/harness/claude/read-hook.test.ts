import { expect, test } from "vitest";
import { readHook } from "./reading.ts";

const told = (event: string, more: object = {}) =>
  readHook(JSON.stringify({ session_id: "s-1", transcript_path: "/t/s-1.jsonl", hook_event_name: event, ...more }));

test("hooks report the session, received prompts, tools, and when the agent is idle", () => {
  expect(told("SessionStart")).toEqual([{ kind: "session", id: "s-1", transcript: "/t/s-1.jsonl" }]);
  expect(told("UserPromptSubmit", { prompt: "Go" })[0]).toEqual({ kind: "prompted", text: "Go" });
  expect(told("PreToolUse", { tool_name: "Bash" })).toEqual([{ kind: "tool", name: "Bash", state: "began" }]);
  expect(told("PostToolUse", { tool_name: "Bash" })).toEqual([{ kind: "tool", name: "Bash", state: "ended" }]);
  expect(told("PermissionRequest", { tool_name: "Bash" })).toEqual([{ kind: "asks", about: "Bash" }]);
  expect(told("Stop", { last_assistant_message: "Done." })).toEqual([{ kind: "idle", said: "Done." }]);
  expect(told("SessionEnd", { reason: "prompt_input_exit" })).toEqual([{ kind: "over" }]);
});

test("only notifications about dialogs count as questions", () => {
  const asked = { notification_type: "permission_prompt", message: "Claude needs your permission" };
  expect(told("Notification", asked)).toEqual([{ kind: "asks", about: asked.message }]);
  expect(told("Notification", { notification_type: "idle_prompt" })).toEqual([]);
});

test("a failed turn is over, with its reason", () => {
  const text = "Invalid API key · Fix external API key";
  expect(told("StopFailure", { error: "authentication_failed", last_assistant_message: text })).toEqual([
    { kind: "failed", error: { kind: "authentication", message: text, resetAt: undefined } },
    { kind: "idle", said: text },
  ]);
});

test("a cleared conversation is not over, and other lines give no event", () => {
  expect(told("SessionEnd", { reason: "clear" })).toEqual([]);
  for (const line of ["", "{", "[]", "null", '{"hook_event_name":"Other"}']) expect(readHook(line)).toEqual([]);
});
