import { expect, test } from "vitest";
import { plainRun } from "../../engine/run-spec.ts";
import type { RunSpec, Workflow } from "../../engine/workflow.ts";
import type { HarnessError, TurnEnd } from "../../ports/harness.ts";
import type { ProcessEnd } from "../../ports/processes.ts";
import { readTurn } from "./read-turn.ts";

const schema = { type: "object", required: ["ok"], properties: { ok: { type: "boolean" } } };
const workflow = { schemas: { verdict: schema } } as unknown as Workflow;
const turn: RunSpec = { ...plainRun("judge"), mode: "turn" };
const asked: RunSpec = { ...turn, result: "verdict" };
const steps: RunSpec = { ...turn, mode: "steps", marker: "DONE" };
const exit: ProcessEnd = { kind: "ended", code: 0, signal: "", cause: "exit", reason: "", at: 0 };
const said = (text: string): TurnEnd => ({ text, answer: undefined, error: undefined, events: [] });
const failed = (kind: HarnessError["kind"], resetAt?: number): TurnEnd => ({
  ...said(""),
  error: { kind, message: "It says no.", resetAt },
});
const read = (spec: RunSpec, end: TurnEnd, how: Partial<ProcessEnd> = {}, isResumed = false) =>
  readTurn(workflow, spec, { ...exit, ...how }, end, isResumed);

test("a valid answer is extracted from the text around it", () => {
  expect(read(asked, said('Here it is:\n```json\n{"ok": true}\n```'))).toEqual({
    ...{ kind: "ended", word: "ok", reason: "" },
    answer: { ok: true },
  });
});

test("an invalid answer can be asked for again, with the problem", () => {
  expect(read(asked, said("All is well."))).toMatchObject({ kind: "invalid" });
  expect(read(asked, said('{"ok": "yes"}'))).toMatchObject({ kind: "invalid", answer: { ok: "yes" } });
});

test("an answer of more than a million characters can be asked for again, and is not kept", () => {
  const long = { ...said(""), answer: { ok: true, words: "x".repeat(1024 * 1024) } };
  expect(read(asked, long)).toEqual({
    ...{ kind: "invalid", answer: undefined },
    reason: "The answer has more than 1048576 characters, which is the limit. Keep what matters most.",
  });
  const free = read(turn, said("x".repeat(10_000_000)));
  expect(free.kind === "ended" && String(free.answer).length).toBe(1024 * 1024);
});

test("a structured answer is not searched for in the text", () => {
  expect(read(asked, { ...said("{}"), answer: { ok: false } })).toMatchObject({ word: "ok", answer: { ok: false } });
});

test("a step ends the work only if the marker is on a line of its own", () => {
  expect(read(steps, said("I am not DONE yet"))).toMatchObject({ word: "step" });
  expect(read(steps, said("All built.\n  DONE  \n"))).toMatchObject({ word: "ok" });
});

test("a provider's limit is not an end, and names its reset time", () => {
  expect(read(turn, failed("rate-limit", 5_000))).toEqual({ kind: "limited", until: 5_000, reason: "It says no." });
});

test("a missing session is an error only if none was to be resumed", () => {
  expect(read(turn, failed("session-unknown"), {}, true)).toMatchObject({ kind: "session-gone" });
  expect(read(turn, failed("session-unknown"))).toMatchObject({ word: "error" });
  expect(read(turn, failed("overflow"), {}, true)).toMatchObject({ kind: "session-gone" });
  expect(read(turn, failed("session-in-use"), {}, true)).toMatchObject({ kind: "session-gone" });
});

test("the cause of a program's end takes precedence over its output", () => {
  expect(read(steps, said("DONE"), { cause: "time" })).toMatchObject({ word: "stall" });
  expect(read(steps, said("DONE"), { cause: "output" })).toMatchObject({ word: "error" });
  expect(read(turn, said("fine"), { signal: "SIGKILL", code: undefined })).toMatchObject({ word: "error" });
  // As a sandbox reports it.
  const told = { word: "error", reason: "It was ended by SIGKILL." };
  expect(read(turn, said("fine"), { signal: "", code: 137 })).toMatchObject(told);
  expect(read(turn, said(""), { cause: "start", reason: "There is no such program." })).toMatchObject({
    word: "error",
    reason: "There is no such program.",
  });
});

test("a refusal of the model and a withheld permission are final; server errors and timeouts may be retried", () => {
  expect(read(turn, failed("refusal"))).toMatchObject({ word: "error", isFinal: true });
  expect(read(turn, failed("denied"))).toMatchObject({ word: "error", isFinal: true });
  expect(read(turn, failed("server"))).toEqual({ kind: "ended", word: "error", reason: "It says no." });
  expect(read(turn, failed("timeout"))).toEqual({ kind: "ended", word: "stall", reason: "It says no." });
  expect(read(turn, failed("budget"))).toMatchObject({ word: "cost" });
});

test("a program that is not logged in needs a person, not another try", () => {
  expect(read(turn, failed("authentication"))).toMatchObject({ kind: "ended", word: "login", reason: "It says no." });
});
