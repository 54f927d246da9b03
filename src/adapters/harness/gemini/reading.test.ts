import { expect, test } from "vitest";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { readTurn } from "./reading.ts";

const exit = (code: number): ProcessEnd => ({ kind: "ended", code, signal: "", cause: "exit", reason: "", at: 0 });
const say = (content: string) => ({ type: "message", role: "assistant", content, delta: true });
const counted = { total_tokens: 150, input_tokens: 120, output_tokens: 20, cached: 50, input: 70 };
const success = { type: "result", status: "success", stats: { models: { "gemini-x": counted } } };
const failed = (message: string) => ({
  type: "result",
  timestamp: "2026-11-15T13:31:44.828Z",
  status: "error",
  error: { type: "unknown", message },
});

function read(lines: readonly unknown[], end: ProcessEnd = exit(0), errors = "") {
  const reader = readTurn();
  const events = reader.push(new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
  return { ...reader.end(end, errors), events };
}

test("a turn reports its session, complete messages, its tools and its tokens", () => {
  const { events, text, error } = read([
    { type: "init", session_id: "s-1", model: "gemini-x" },
    { type: "message", role: "user", content: "Work." },
    say("I look "),
    say("first."),
    { type: "tool_use", tool_name: "read_file", tool_id: "t-1" },
    { type: "tool_result", tool_id: "t-1", status: "success" },
    say("All "),
    say("done."),
    success,
  ]);
  expect(events).toEqual([
    { kind: "session", id: "s-1", transcript: "" },
    { kind: "prompted", text: "Work." },
    { kind: "said", text: "I look first." },
    { kind: "tool", name: "read_file", state: "began" },
    { kind: "tool", name: "read_file", state: "ended" },
    { kind: "said", text: "All done." },
    {
      kind: "usage",
      usage: { model: "gemini-x", inputTokens: 70, outputTokens: 30, cachedTokens: 50, cost: undefined },
    },
  ]);
  expect([text, error]).toEqual(["All done.", undefined]);
});

test("a turn without a result has failed, even with exit code 0", () => {
  expect(read([say("Half a")]).error?.kind).toBe("other");
  expect(read([say("Whole."), success]).error).toBeUndefined();
});

test("a rate limit ends after the reported pause, counted from the message's timestamp", () => {
  const { error } = read(
    [failed("[API Error: Resource has been exhausted (e.g. check quota).\nSuggested retry after 3600s.]\nPlease wait")],
    exit(173),
  );
  expect(error).toMatchObject({ kind: "rate-limit", resetAt: Date.parse("2026-11-15T14:31:44.828Z") });
});

test("the provider's own message is extracted from the text around it", () => {
  const body = { error: { code: 401, message: "Request had invalid credentials.", status: "UNAUTHENTICATED" } };
  expect(read([failed(`[API Error: ${JSON.stringify(body)}]`)], exit(145)).error).toEqual({
    kind: "authentication",
    message: "Request had invalid credentials.",
    resetAt: undefined,
  });
});

test("standard error explains why a turn did not start", () => {
  const unknown = 'Error resuming session: Invalid session identifier "x".\n  Searched for sessions in y.';
  expect(read([], exit(42), unknown).error?.kind).toBe("session-unknown");
  expect(read([], exit(41), "Warning: colours\nInvalid auth method selected.\n").error?.kind).toBe("authentication");
});
