import { expect, test } from "vitest";
import { endedBadly, endedByUs, failureAtEnd, failureOf } from "./failure.ts";

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
])("%j is classified as %s", (message, kind) => expect(failureOf(message).kind).toBe(kind));

test("an HTTP status takes precedence over the words", () => {
  expect(failureOf("Please check your API key quota", { status: 429, resetAt: 5 })).toMatchObject({
    kind: "rate-limit",
    resetAt: 5,
  });
  expect(failureOf("rate limit service is down", { status: 503, resetAt: 5 })).toMatchObject({
    kind: "server",
    resetAt: undefined,
  });
});

test("a message has no escape sequences, no line breaks and a limited length", () => {
  const { message } = failureOf(`\u001b[31mred\u001b[0m\nand ${"long ".repeat(1000)}`);
  expect(message.startsWith("red and long")).toBe(true);
  expect(message.length).toBe(500);
});

test("the message about a program that Signalbox ended says so", () => {
  const end = { kind: "ended", code: undefined, signal: "SIGKILL", reason: "", at: 0 } as const;
  expect(endedByUs({ ...end, cause: "time" }, "OpenCode")?.kind).toBe("timeout");
  expect(endedByUs({ ...end, cause: "start", reason: "It is not there." }, "OpenCode")).toMatchObject({
    kind: "start",
    message: "It is not there.",
  });
  expect(endedByUs({ ...end, cause: "exit" }, "OpenCode")).toBeUndefined();
});

test("a program that ended by itself is reported with its exit code or signal and its last words", () => {
  const end = { kind: "ended", code: 3, signal: "", reason: "", at: 0, cause: "exit" } as const;
  const killed = { ...end, code: undefined, signal: "SIGSEGV" };
  expect(endedBadly(end, "Codex").message).toBe("Codex ended with exit code 3, and did not say why.");
  expect(endedBadly(end, "Codex", "a\n\u001b[1mb").message).toBe("Codex ended with exit code 3. It said last: a · b");
  expect(endedBadly(killed, "Codex").message).toBe("Codex was ended by SIGSEGV.");
  expect(endedBadly(end, "Codex", "401 Unauthorized").kind).toBe("authentication");
});

test("every end but exit code 0 is a failure, and an end by Signalbox takes precedence", () => {
  const end = { kind: "ended", code: 0, signal: "", reason: "", at: 0, cause: "exit" } as const;
  expect(failureAtEnd(end, "Codex", "talk")).toBeUndefined();
  expect(failureAtEnd({ ...end, code: 1 }, "Codex")?.kind).toBe("other");
  expect(failureAtEnd({ ...end, cause: "time", code: undefined, signal: "SIGTERM" }, "Codex")?.kind).toBe("timeout");
});
