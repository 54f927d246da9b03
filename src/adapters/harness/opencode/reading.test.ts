import { expect, test } from "vitest";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { readTurn } from "./reading.ts";

const exit = (code: number): ProcessEnd => ({ kind: "ended", code, signal: "", cause: "exit", reason: "", at: 0 });
const sessionID = "ses_1";
const step = { tokens: { input: 100, output: 30, reasoning: 5, cache: { write: 7, read: 20 } }, cost: 0.00017 };
const text = (messageID: string, said: string, more = {}) => ({
  type: "text",
  sessionID,
  part: { messageID, text: said, ...more },
});
const finish = (reason: string) => ({ type: "step_finish", sessionID, part: { ...step, reason } });
const overflow = {
  type: "error",
  sessionID,
  error: { name: "ContextOverflowError", data: { message: "maximum context length" } },
};

function read(lines: readonly unknown[], end: ProcessEnd = exit(0), errors = "") {
  const reader = readTurn();
  const events = reader.push(new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
  return { ...reader.end(end, errors), events };
}

test("a turn reports its session once, its tools, its messages and its cost", () => {
  const {
    events,
    text: said,
    error,
  } = read([
    { type: "model", sessionID, model: "a/b" },
    { type: "tool_use", sessionID, part: { tool: "bash", state: { status: "completed" } } },
    finish("tool-calls"),
    text("m2", "Done."),
    finish("stop"),
  ]);
  const usage = { model: "a/b", inputTokens: 107, outputTokens: 35, cachedTokens: 20, cost: 0.00017 };
  expect(events).toEqual([
    { kind: "session", id: "ses_1", transcript: "" },
    { kind: "tool", name: "bash", state: "began" },
    { kind: "tool", name: "bash", state: "ended" },
    { kind: "usage", usage },
    { kind: "said", text: "Done." },
    { kind: "usage", usage },
  ]);
  expect([said, error]).toEqual(["Done.", undefined]);
});

test("the answer is the whole last message, without the text that OpenCode inserts", () => {
  const { text: said } = read([
    text("m1", "First."),
    text("m2", "One"),
    text("m2", "and two."),
    text("m3", "The conversation was compacted.", { synthetic: true }),
  ]);
  expect(said).toBe("One\nand two.");
});

test("a cost of zero is unknown", () => {
  const { events } = read([{ type: "step_finish", sessionID, part: { ...step, cost: 0 } }]);
  expect(events.at(-1)).toMatchObject({ kind: "usage", usage: { cost: undefined } });
});

test("the usage of subagents counts, but their session is not the turn's", () => {
  const { events } = read([{ type: "child_finish", sessionID: "ses_2", part: step }]);
  expect(events.map(({ kind }) => kind)).toEqual(["usage"]);
});

test("an overflow from which OpenCode recovered is not an error", () => {
  expect(read([overflow, text("m2", "Done."), finish("stop")]).error).toBeUndefined();
  expect(read([overflow], exit(1)).error?.kind).toBe("overflow");
});

test("the end of a rate limit comes from the plugin's line", () => {
  const error = { name: "RetryLimit", data: { message: "Rate limit reached", next: 1794752561880 } };
  expect(read([{ type: "error", sessionID, error }], exit(1)).error).toEqual({
    kind: "rate-limit",
    message: "Rate limit reached",
    resetAt: 1794752561880,
  });
});

test("an unknown error that OpenCode retried is a failure of the provider", () => {
  const error = { name: "RetryLimit", data: { message: "Hm.", next: 1 } };
  expect(read([{ type: "error", sessionID, error }], exit(1)).error?.kind).toBe("server");
});

test("a filtered answer is a refusal", () => {
  expect(read([text("m", "I"), finish("content-filter")]).error?.kind).toBe("refusal");
});

test("standard error reveals an unknown session, and a silent failure is reported as such", () => {
  expect(read([], exit(1), "\u001b[91m\u001b[1mError: \u001b[0mSession not found").error?.kind).toBe("session-unknown");
  expect(read([], exit(1)).error?.message).toBe("OpenCode ended with exit code 1, and did not say why.");
});
