import { expect, test } from "vitest";
import type { HarnessEvent, TurnEnd } from "../../../ports/harness.ts";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { readOutput } from "./reading.ts";

const now = 1_800_000_000_000;
const exit = (code: number): ProcessEnd => ({ kind: "ended", code, signal: "", cause: "exit", reason: "", at: now });
const init = { type: "system", subtype: "init", session_id: "s-1", tools: ["Bash"] };
const usage = { input_tokens: 100, cache_creation_input_tokens: 5, cache_read_input_tokens: 50, output_tokens: 10 };
const ofModel = {
  inputTokens: 100,
  outputTokens: 10,
  cacheReadInputTokens: 50,
  cacheCreationInputTokens: 5,
  costUSD: 0.1,
};
const result = {
  type: "result",
  subtype: "success",
  is_error: false,
  api_error_status: null,
  result: "All done.",
  session_id: "s-1",
  terminal_reason: "completed",
  stop_reason: "end_turn",
  usage,
};

function read(entries: readonly unknown[], end: ProcessEnd = exit(0), errors = "") {
  const reader = readOutput(() => now);
  const bytes = new TextEncoder().encode(entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
  const events: HarnessEvent[] = [];
  for (let at = 0; at < bytes.length; at += 7) events.push(...reader.push(bytes.subarray(at, at + 7)));
  const turn: TurnEnd = reader.end(end, errors);
  return { ...turn, seen: events };
}

test("a turn reports its session, its tools, its messages and its end", () => {
  const answer = (content: unknown) => ({
    type: "assistant",
    message: { id: "m-1", model: "claude-x", content: [content], usage },
    parent_tool_use_id: null,
  });
  const turn = read([
    init,
    answer({ type: "text", text: "I will look." }),
    answer({ type: "tool_use", id: "t-1", name: "Bash", input: {} }),
    { type: "user", message: { role: "user", content: [{ type: "tool_result", tool_use_id: "t-1", content: "" }] } },
    { ...answer({ type: "text", text: "Inner." }), parent_tool_use_id: "t-9" },
    { ...result, model_usage_since_last_result: { "claude-x": ofModel }, structured_output: { verdict: "PASS" } },
  ]);
  expect(turn.seen).toEqual([
    { kind: "session", id: "s-1", transcript: "" },
    { kind: "busy", what: "" },
    { kind: "said", text: "I will look." },
    { kind: "tool", name: "Bash", state: "began" },
    { kind: "tool", name: "Bash", state: "ended" },
  ]);
  expect(turn).toMatchObject({ text: "All done.", answer: { verdict: "PASS" }, error: undefined });
});

const told = { model: "claude-x", inputTokens: 105, outputTokens: 10, cachedTokens: 50 };

test("a turn of a resumed session costs its own usage, not the whole session's", () => {
  const cumulative = { ...ofModel, inputTokens: 200, outputTokens: 20, costUSD: 0.2 };
  const { events } = read([
    {
      ...result,
      total_cost_usd: 0.2,
      modelUsage: { "claude-x": cumulative },
      model_usage_since_last_result: { "claude-x": ofModel },
    },
  ]);
  expect(events).toEqual([{ kind: "usage", usage: { ...told, cost: 0.1 } }]);
});

test("older versions count each turn separately; if one does not, the cost is unknown", () => {
  const older = read([{ ...result, total_cost_usd: 0.1, modelUsage: { "claude-x": ofModel } }]);
  expect(older.events).toEqual([{ kind: "usage", usage: { ...told, cost: 0.1 } }]);
  const cumulative = read([
    { ...result, total_cost_usd: 0.2, modelUsage: { "claude-x": { ...ofModel, outputTokens: 20 } } },
  ]);
  expect(cumulative.events).toEqual([{ kind: "usage", usage: { ...told, cost: undefined } }]);
});

test("a killed turn reports the tokens of its answers, each once, at an unknown cost", () => {
  const line = { type: "assistant", message: { id: "m-1", model: "claude-x", content: [], usage } };
  const turn = read([init, line, line], { ...exit(0), code: undefined, signal: "SIGKILL", cause: "killed" });
  expect(turn.events).toEqual([{ kind: "usage", usage: { ...told, cost: undefined } }]);
  expect(turn.error).toMatchObject({ kind: "other", message: "Claude Code was ended before it finished." });
});

const failed = { ...result, is_error: true, terminal_reason: "api_error", stop_reason: "stop_sequence" };
const failures: readonly (readonly [string, unknown, string])[] = [
  ["401", { ...failed, api_error_status: 401, result: "Invalid API key · Fix external API key" }, "authentication"],
  ["no login", { ...failed, result: "Not logged in · Please run /login" }, "authentication"],
  [
    "a login that cannot be refreshed",
    { ...failed, result: "Failed to authenticate: OAuth session expired and could not be refreshed" },
    "authentication",
  ],
  ["429", { ...failed, api_error_status: 429, result: "API Error: Request rejected (429) · …" }, "rate-limit"],
  ["500", { ...failed, api_error_status: 500, result: "API Error: 500 Internal server error." }, "server"],
  ["529", { ...failed, api_error_status: 529, api_error_type: "overloaded_error", result: "API Error: 529" }, "server"],
  ["a cut line", { ...failed, api_error: "connection_failed", result: "API Error: Connection dropped" }, "server"],
  ["no answer", { ...failed, result: "Request timed out" }, "timeout"],
  [
    "too long",
    { ...failed, api_error_status: 400, terminal_reason: "prompt_too_long", result: "Prompt is too long" },
    "overflow",
  ],
  ["a refusal", { ...failed, stop_reason: "refusal", result: "API Error: …'s safeguards flagged this" }, "refusal"],
  [
    "no money",
    { ...failed, subtype: "error_max_budget_usd", result: undefined, errors: ["Reached maximum budget"] },
    "budget",
  ],
  ["SIGINT", { ...failed, terminal_reason: "aborted_streaming", result: undefined }, "other"],
];

test.each(failures)("a failure is classified: %s", (_, line, kind) => {
  const { error } = read([init, line], exit(1));
  expect(error?.kind).toBe(kind);
  expect(error?.message).not.toBe("");
});

test("an error that is only on standard error is classified", () => {
  const kindOf = (errors: string, end = exit(1)) => read([], end, errors).error?.kind;
  expect(kindOf("Error: Session ID 291a3967 is already in use.\n")).toBe("session-in-use");
  expect(kindOf("No conversation found with session ID: bdbc26f5\n")).toBe("session-unknown");
  expect(kindOf("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons")).toBe(
    "start",
  );
  expect(kindOf("")).toBe("other");
  expect(kindOf("", { ...exit(0), cause: "time", signal: "SIGKILL" })).toBe("timeout");
  expect(kindOf("", { ...exit(0), cause: "start", reason: "There is no such program." })).toBe("start");
});

test("the end of a rate limit is read from each of its sources", () => {
  const limit = { ...failed, api_error_status: 429, result: "API Error: Request rejected (429)" };
  const retry = { type: "system", subtype: "api_retry", attempt: 1, retry_delay_ms: 30_000, error_status: 429 };
  const event = { type: "rate_limit_event", rate_limit_info: { status: "rejected", resetsAt: 1_800_003_600 } };
  expect(read([limit]).error?.resetAt).toBeUndefined();
  expect(read([retry, limit]).error?.resetAt).toBe(now + 30_000);
  expect(read([retry, event, limit]).error?.resetAt).toBe(1_800_003_600_000);
  expect(read([{ ...limit, result: "Claude AI usage limit reached|1800003600" }]).error?.resetAt).toBe(
    1_800_003_600_000,
  );
});

test("no output makes the reader throw", () => {
  for (const text of [
    "",
    "null\n[]\n7\n",
    '{"type":"assistant"}\n{"type":"user","message":7}\n{"type":"result"',
    "\u0000\uffff\n",
  ]) {
    const reader = readOutput(() => now);
    reader.push(new TextEncoder().encode(text));
    reader.push(new Uint8Array([0xff, 0xfe, 0x0a, 0x80]));
    expect(reader.end(exit(1), "\u0000").error?.kind).toBe("other");
  }
});
