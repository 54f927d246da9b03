import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { ProcessEnd } from "../../../ports/processes.ts";
import { readOutput } from "./reading.ts";
import { keepNotes, rolloutOf } from "./rollout.ts";

const session = "01a1df5b-1111-7b80-bfb5-5120d9b3de0e";
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-codex-"));
  folders.push(folder);
  return folder;
}

const ended = (more: Partial<ProcessEnd> = {}): ProcessEnd => ({
  kind: "ended",
  code: 0,
  signal: "",
  cause: "exit",
  reason: "",
  at: 0,
  ...more,
});

const lines = (...objects: readonly unknown[]) =>
  Buffer.from(objects.map((each) => `${JSON.stringify(each)}\n`).join(""));
const began = [{ type: "thread.started", thread_id: session }, { type: "turn.started" }];
const message = (text: string) => ({ type: "item.completed", item: { id: "i", type: "agent_message", text } });
const completed = {
  type: "turn.completed",
  usage: { input_tokens: 300, cached_input_tokens: 120, output_tokens: 30, reasoning_output_tokens: 9 },
};

test("a turn is reported while it runs, however its output is split into chunks", () => {
  const item = { id: "i", type: "command_execution", command: "ls" };
  const bytes = lines(
    ...began,
    { type: "item.started", item },
    { type: "item.completed", item },
    message("é"),
    completed,
  );
  const events = (size: number) => {
    const reader = readOutput({ run: "r-1", runFolder: newFolder() }, () => 0);
    const found = [];
    for (let at = 0; at < bytes.length; at += size) found.push(...reader.push(bytes.subarray(at, at + size)));
    return { found, end: reader.end(ended(), "") };
  };
  const whole = events(bytes.length);
  expect(whole.found).toEqual([
    { kind: "session", id: session, transcript: "" },
    { kind: "busy", what: "" },
    { kind: "tool", name: "command_execution", state: "began" },
    { kind: "tool", name: "command_execution", state: "ended" },
    { kind: "said", text: "é" },
  ]);
  const usage = { model: "", inputTokens: 180, cachedTokens: 120, outputTokens: 30, cost: undefined };
  expect(whole.end).toEqual({ text: "é", answer: undefined, error: undefined, events: [{ kind: "usage", usage }] });
  expect(events(7)).toEqual(whole);
});

const record = (thread: number, turn: number) => ({
  type: "token_usage_record",
  payload: { thread_token_usage: { input_tokens: thread }, turn_token_usage: { input_tokens: turn } },
});
const started = { type: "event_msg", payload: { type: "task_started" } };
const noise = { type: "other", payload: `"token_usage_record"${"x".repeat(300_000)}` };

/** The usage that is reported for a turn of a session with this transcript. */
async function usedUp(transcript: readonly unknown[], output: readonly unknown[]): Promise<unknown> {
  const home = newFolder();
  const day = join(home, "sessions/2026/11/15");
  mkdirSync(day, { recursive: true });
  const file = join(day, `rollout-2026-11-15T13-17-29-${session}.jsonl`);
  writeFileSync(file, `${lines(...transcript)}{"type":"token_usage_rec`);
  expect(rolloutOf(session, home)).toBe(file);
  const at = { run: "r-1", runFolder: newFolder() };
  await keepNotes(at, { model: "m", home, schema: undefined });
  const reader = readOutput(at, () => 0);
  reader.push(lines(...output));
  const { events } = reader.end(ended({ code: undefined, signal: "SIGKILL", cause: "time" }), "");
  return events.map((event) => event.kind === "usage" && [event.usage.model, event.usage.inputTokens]);
}

test("in a resumed session only this turn's usage is reported, also if the turn was killed", async () => {
  const before = [started, record(100, 100), noise, started];
  expect(await usedUp([...before, record(170, 70), noise], [...began, completed])).toEqual([["m", 70]]);
  expect(await usedUp([...before, record(170, 70), noise], began)).toEqual([["m", 70]]);
  expect(await usedUp([...before, noise], began)).toEqual([]);
  expect(await usedUp([started, record(100, 100)], [])).toEqual([]);
});

test("an answer to a schema is returned as data", async () => {
  const at = { run: "r-1", runFolder: newFolder() };
  const schema = { type: "object", required: ["a"], properties: { a: { type: "string" }, b: { type: "string" } } };
  await keepNotes(at, { model: "", home: "", schema });
  const answer = (text: string) => {
    const reader = readOutput(at, () => 0);
    reader.push(lines(...began, message(text), completed));
    return reader.end(ended(), "").answer;
  };
  expect(answer('{"a":"x","b":null}')).toEqual({ a: "x" });
  expect(answer("I will not say")).toBeUndefined();
});

test("the reason of a failed turn is its last line, or its standard error", () => {
  const reader = readOutput({ run: "r-1", runFolder: newFolder() }, () => 0);
  const failed = {
    type: "turn.failed",
    error: { message: "exceeded retry limit, last status: 429 Too Many Requests" },
  };
  expect(reader.push(lines(...began, failed)).at(-1)).toMatchObject({ kind: "failed", error: { kind: "rate-limit" } });
  expect(reader.end(ended({ code: 1 }), "Reading additional input from stdin...\n").error?.kind).toBe("rate-limit");

  const silent = readOutput({ run: "r-1", runFolder: newFolder() }, () => 0);
  const errors = `2026 ERROR x: y\nError: thread/resume failed: no rollout found for thread id ${session}\n\n`;
  expect(silent.end(ended({ code: 1 }), errors).error).toEqual({
    kind: "session-unknown",
    message: `thread/resume failed: no rollout found for thread id ${session}`,
    resetAt: undefined,
  });
});

test.each([
  [{ cause: "start", reason: "There is no codex." }, "start", "There is no codex."],
  [{ cause: "killed", signal: "SIGTERM" }, "other", "Codex was ended before it finished."],
  [{ signal: "SIGSEGV" }, "other", "Codex was ended by SIGSEGV."],
  [{ code: 3 }, "other", "Codex ended with exit code 3, and did not say why."],
] as const)("an end without a word is put into words: %j", (end, kind, text) => {
  const { error } = readOutput({ run: "r-1", runFolder: newFolder() }, () => 0).end(ended(end), "");
  expect(error).toEqual({ kind, message: text, resetAt: undefined });
});

test("only an id identifies a session", () => {
  expect(rolloutOf("../../etc/passwd", "/")).toBe("");
  expect(rolloutOf("", "/")).toBe("");
});
