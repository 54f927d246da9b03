import { expect, test } from "vitest";
import { createRolloutReader } from "./rollout.ts";

const line = (type: string, payload: unknown) =>
  JSON.stringify({ timestamp: "2026-11-15T13:17:29.990Z", type, payload });
const count = { input_tokens: 100, cached_input_tokens: 40, output_tokens: 10, reasoning_output_tokens: 3 };

test("the usage of each answer is reported once, with its model", () => {
  const read = createRolloutReader(() => 0);
  expect(read(line("turn_context", { turn_id: "t1", model: "gpt-6-sol" }))).toEqual([]);
  const record = line("token_usage_record", { turn_id: "t1", usage: count, thread_token_usage: { input_tokens: 900 } });
  expect(read(record)).toEqual([
    {
      kind: "usage",
      usage: { model: "gpt-6-sol", inputTokens: 60, cachedTokens: 40, outputTokens: 10, cost: undefined },
    },
  ]);
  expect(read(line("event_msg", { type: "token_count", info: { last_token_usage: count } }))).toEqual([]);
});

test("a failed turn is reported as over; a hook reports the end of other turns", () => {
  const read = createRolloutReader(() => 0);
  const error = { message: "rate limit exceeded: Please try again in 2s.", codex_error_info: "rate_limit_exceeded" };
  expect(read(line("event_msg", { type: "task_complete", last_agent_message: null, error }))).toEqual([
    { kind: "failed", error: { kind: "rate-limit", message: error.message, resetAt: 2000 } },
    { kind: "idle", said: "" },
  ]);
  expect(read(line("event_msg", { type: "task_complete", last_agent_message: "fine" }))).toEqual([]);
});

test("messages and tools are reported", () => {
  const read = createRolloutReader(() => 0);
  const item = { type: "AgentMessage", content: [{ type: "Text", text: "fine" }] };
  expect(read(line("event_msg", { type: "item_completed", item }))).toEqual([{ kind: "said", text: "fine" }]);
  expect(read(line("response_item", { type: "function_call", name: "exec_command" }))).toEqual([
    { kind: "busy", what: "exec_command" },
  ]);
});

test.each(["", "{", "null", '{"type":"event_msg"}', '{"type":"token_usage_record","payload":{"usage":7}}'])(
  "a line of another kind gives no event: %s",
  (text) => expect(createRolloutReader(() => 0)(text)).toEqual([]),
);
