import { expect, test } from "vitest";
import { plainRun } from "../../engine/plain-run.ts";
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

test("an answer that fits is taken out of the text around it", () => {
  expect(read(asked, said('Here it is:\n```json\n{"ok": true}\n```'))).toEqual({
    ...{ kind: "ended", word: "ok", reason: "" },
    answer: { ok: true },
  });
});

test("an answer that does not fit can be asked for again, with what is wrong", () => {
  expect(read(asked, said("All is well."))).toMatchObject({ kind: "invalid" });
  expect(read(asked, said('{"ok": "yes"}'))).toMatchObject({ kind: "invalid", answer: { ok: "yes" } });
});

test("an answer that came as data is not looked for in the text", () => {
  expect(read(asked, { ...said("{}"), answer: { ok: false } })).toMatchObject({ word: "ok", answer: { ok: false } });
});

test("a step ends the work only with the marker on a line of its own", () => {
  expect(read(steps, said("I am not DONE yet"))).toMatchObject({ word: "step" });
  expect(read(steps, said("All built.\n  DONE  \n"))).toMatchObject({ word: "ok" });
});

test("a provider's limit is no ending, and says when it is over", () => {
  expect(read(turn, failed("rate-limit", 5_000))).toEqual({ kind: "limited", until: 5_000, reason: "It says no." });
});

test("a session that is gone is an error only where there was none to go on with", () => {
  expect(read(turn, failed("session-unknown"), {}, true)).toMatchObject({ kind: "session-gone" });
  expect(read(turn, failed("session-unknown"))).toMatchObject({ word: "error" });
  expect(read(turn, failed("overflow"), {}, true)).toMatchObject({ kind: "session-gone" });
  expect(read(turn, failed("session-in-use"), {}, true)).toMatchObject({ kind: "session-gone" });
});

test("what ended a program counts before what it said", () => {
  expect(read(steps, said("DONE"), { cause: "time" })).toMatchObject({ word: "stall" });
  expect(read(steps, said("DONE"), { cause: "output" })).toMatchObject({ word: "error" });
  expect(read(turn, said("fine"), { signal: "SIGKILL", code: undefined })).toMatchObject({ word: "error" });
  expect(read(turn, said(""), { cause: "start", reason: "There is no such program." })).toMatchObject({
    word: "error",
    reason: "There is no such program.",
  });
});
