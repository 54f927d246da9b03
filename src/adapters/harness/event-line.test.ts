import fc from "fast-check";
import { expect, test } from "vitest";
import type { HarnessEvent } from "../../ports/harness.ts";
import { readEventLine } from "./event-line.ts";

const usage = { model: "m", inputTokens: 1, outputTokens: 2, cachedTokens: 3, cost: 0.5 };

test.each<HarnessEvent>([
  { kind: "session", id: "a", transcript: "/t" },
  { kind: "prompted", text: "go" },
  { kind: "busy", what: "thinks" },
  { kind: "tool", name: "write", state: "ended" },
  { kind: "said", text: "done" },
  { kind: "idle", said: "done" },
  { kind: "asks", about: "rm" },
  { kind: "usage", usage },
  { kind: "failed", error: { kind: "rate-limit", message: "Too much.", resetAt: 5 } },
  { kind: "over" },
])("an event of the kind $kind is read unchanged", (event) => {
  expect(readEventLine(JSON.stringify(event))).toEqual(event);
});

test("an unreported cost is unknown, and negative amounts do not count", () => {
  const line = JSON.stringify({ kind: "usage", usage: { inputTokens: -5, outputTokens: "7", cost: null } });
  const none = { model: "", inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: undefined };
  expect(readEventLine(line)).toEqual({ kind: "usage", usage: none });
});

test("a reset time that no date can hold is not known", () => {
  for (const resetAt of [1e20, -1, "5"])
    expect(readEventLine(JSON.stringify({ kind: "failed", error: { kind: "authentication", resetAt } }))).toEqual({
      kind: "failed",
      error: { kind: "authentication", message: "The program failed.", resetAt: undefined },
    });
});

test("an error of an unknown kind is still an error", () => {
  const line = '{"kind":"failed","error":{"kind":"__proto__"}}';
  expect(readEventLine(line)).toMatchObject({ kind: "failed", error: { kind: "other" } });
});

test("every line that a program may write is an event or nothing", () => {
  const kinds = fc.constantFrom("session", "usage", "failed", "tool", "toString");
  const line = fc.oneof(
    fc.string(),
    fc.json(),
    fc.record({ kind: kinds, usage: fc.anything() }).map((each) => JSON.stringify(each)),
  );
  fc.assert(fc.property(line, (text) => void readEventLine(text)));
});
