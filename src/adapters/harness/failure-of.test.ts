import { expect, test } from "vitest";
import { endedByUs, failureOf } from "./failure-of.ts";

test.each([
  ["Rate limit reached for requests per minute", "rate-limit"],
  ["Resource has been exhausted (e.g. check quota).", "rate-limit"],
  ["Incorrect API key provided", "authentication"],
  ["Request had invalid authentication credentials.", "authentication"],
  ["This model's maximum context length is 200000 tokens.", "overflow"],
  ["The input token count (1200000) exceeds the maximum number of tokens allowed", "overflow"],
  ["An internal error has occurred.", "server"],
  ["The server had an error processing your request.", "server"],
  ["Session not found", "session-unknown"],
  ["Something else", "other"],
])("%j is told as %s", (message, kind) => expect(failureOf(message).kind).toBe(kind));

test("a status says more than words do", () => {
  expect(failureOf("Please check your API key quota", { status: 429, resetAt: 5 })).toMatchObject({
    kind: "rate-limit",
    resetAt: 5,
  });
  expect(failureOf("rate limit service is down", { status: 503, resetAt: 5 })).toMatchObject({
    kind: "server",
    resetAt: undefined,
  });
});

test("a message for people has no escape sequences, no line breaks and an end", () => {
  const { message } = failureOf(`\u001b[31mred\u001b[0m\nand ${"long ".repeat(1000)}`);
  expect(message.startsWith("red and long")).toBe(true);
  expect(message.length).toBe(500);
});

test("a program that we ended is said to be ended by us", () => {
  const end = { kind: "ended", code: undefined, signal: "SIGKILL", reason: "", at: 0 } as const;
  expect(endedByUs({ ...end, cause: "time" }, "OpenCode")?.kind).toBe("timeout");
  expect(endedByUs({ ...end, cause: "start", reason: "It is not there." }, "OpenCode")).toMatchObject({
    kind: "start",
    message: "It is not there.",
  });
  expect(endedByUs({ ...end, cause: "exit" }, "OpenCode")).toBeUndefined();
});
