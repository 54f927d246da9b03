import { expect, test } from "vitest";
import { errorOf } from "./rollout.ts";

const now = new Date(2026, 10, 15, 13, 20).getTime();

test.each([
  [
    "session-unknown",
    "thread/resume failed: no rollout found for thread id 01a1df5b-1111-7b80-bfb5-5120d9b3de0f (code -32600)",
  ],
  [
    "session-in-use",
    "thread/resume failed: thread 01a1df6c-d539-7ab1-bcd8-c3f7560f83d1 already has an active writer (code -32600)",
  ],
  [
    "authentication",
    "unexpected status 401 Unauthorized: Incorrect API key provided, url: http://127.0.0.1:1/v1/responses",
  ],
  ["authentication", "unexpected status 403 Forbidden: no, url: http://127.0.0.1:1/v1/responses"],
  ["rate-limit", "exceeded retry limit, last status: 429 Too Many Requests"],
  ["rate-limit", "rate limit exceeded: Rate limit reached. Please try again in 2s."],
  ["rate-limit", "Quota exceeded. Check your plan and billing details."],
  ["server", "We’re currently experiencing high demand, which may cause temporary errors."],
  [
    "overflow",
    "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
  ],
  [
    "overflow",
    '{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}',
  ],
  ["other", "Something else"],
])("Codex's message is classified: %s", (kind, said) => {
  expect(errorOf(said, now).kind).toBe(kind);
});

test("an error in JSON is reported with the provider's sentence", () => {
  expect(errorOf('{"error":{"message":"It is\\ntoo long.","code":"x"}}', now).message).toBe("It is too long.");
});

test.each([
  ["rate limit exceeded: Please try again in 1.5s.", now + 1500],
  ["rate limit exceeded: Please try again in 1h2m.", now + 3_720_000],
  [
    "You’ve hit your usage limit. Visit the settings or try again at 4:26 PM.",
    new Date(2026, 10, 15, 16, 26).getTime(),
  ],
  ["You’ve hit your usage limit. Try later, or try again at 9:05 AM.", new Date(2026, 10, 16, 9, 5).getTime()],
  ["You’ve hit your usage limit or try again at Dec 1st, 2026 12:01 AM.", new Date(2026, 11, 1, 0, 1).getTime()],
  ["exceeded retry limit, last status: 429 Too Many Requests", undefined],
])("the end of a limit is read from the message: %s", (said, resetAt) => {
  expect(errorOf(said, now).resetAt).toBe(resetAt);
});

test("an error message has no escape sequences, and a limited length", () => {
  expect(errorOf(`\u001b[2J${"x".repeat(9999)}`, now).message).toMatch(/^x+…$/);
  expect(errorOf("", now).message).toBe("Codex failed, and did not say why.");
});
