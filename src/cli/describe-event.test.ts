import { expect, test } from "vitest";
import type { EventView } from "../api/tasks.ts";
import { writeEvent } from "./describe-event.ts";
import { createPaint } from "./fast/tell.ts";
import { writeAge, writeTime } from "./text.ts";

const at = "2026-03-01T12:00:00.000Z";
const line = (type: string, by: string, data: EventView["data"]) =>
  writeEvent(
    { position: 1, task: "k2m4p", project: "coffee", revision: 1, type, by, data, at },
    { paint: createPaint(false), tableWidth: Number.POSITIVE_INFINITY },
  )
    .slice(writeTime(at).length)
    .trim()
    .replace(/ {2,}/g, "  ");

test("a move names who asked, and the evidence it moved on", () => {
  const evidence = [
    { section: "Plan", hash: "0123456789abcdef", role: "worker", run: "worker#1", commit: "fedcba9876543210" },
  ];
  expect(line("task.moved", "worker", { from: "a", to: "b", cause: "asked", run: "worker#1", evidence })).toBe(
    "task.moved  worker#1  a → b (asked; ## Plan 01234567 by worker#1 at fedcba98)",
  );
  expect(line("task.moved", "engine", { from: "a", to: "b", cause: "rule 1" })).toBe(
    "task.moved  engine  a → b (rule 1)",
  );
});

test("a refusal names the run that asked, the request and every reason", () => {
  const reasons = [
    { code: "guard", text: "It is too early.", fix: "" },
    { code: "gate-missing", text: "The plan is missing.", fix: "Write it." },
  ];
  const request = { kind: "move", to: "b", actor: { role: "worker", run: "worker#2" } };
  expect(line("request.rejected", "worker", { request, reasons })).toBe(
    "request.rejected  worker#2  move to b: It is too early. The plan is missing.",
  );
});

test("every other event is described in a few words on one line", () => {
  expect(line("task.created", "human", { status: "a", workflow: "w" })).toBe(
    "task.created  human  in a, with the workflow w",
  );
  expect(line("task.held", "engine", { word: "error", reason: "One\n  two" })).toBe(
    "task.held  engine  One two (error)",
  );
  expect(line("effect.failed", "engine", { action: "merge", reason: "No." })).toBe("effect.failed  engine  merge: No.");
  expect(line("agent.ended", "engine", { run: "worker#1", word: "exit" })).toBe("agent.ended  engine  worker#1 exit");
  const values = { preset: "", settings: { auto_merge: true, judge: null, scouts: ["small"] } };
  expect(line("task.edited", "human", { changed: ["labels", "preset", "settings"], values })).toBe(
    'task.edited  human  labels, no preset, auto_merge=true, judge taken back and scouts=["small"]',
  );
  expect(line("task.edited", "human", { changed: ["summary", "branch"] })).toBe(
    "task.edited  human  summary and branch",
  );
  expect(line("task.migrated", "human", { from: "0123456789", to: "abcdef0123", status: "a" })).toBe(
    "task.migrated  human  version 01234567 → abcdef01, in a",
  );
});

test("a call that names several tasks counts the others", () => {
  const called = (tasks: number) => line("person.called", "engine", { text: "It waits.", command: "", tasks });
  expect(called(1)).toBe("person.called  engine  It waits.");
  expect(called(2)).toBe("person.called  engine  It waits. (with 1 other task)");
  expect(called(3)).toBe("person.called  engine  It waits. (with 2 other tasks)");
});

test("an event of a later version is shown with its raw data", () => {
  expect(line("moon.rose", "engine", { full: true })).toBe('moon.rose  engine  {"full":true}');
});

test("an age is shown in its largest unit", () => {
  const ago = (seconds: number) => writeAge(at, Date.parse(at) + seconds * 1000);
  expect([ago(-5), ago(59), ago(60), ago(7_199), ago(86_399), ago(400_000)]).toEqual([
    "0s",
    "59s",
    "1m",
    "1h",
    "23h",
    "4d",
  ]);
});

test("the start of a run names its agent, and the model that the agent stands in for", () => {
  const data = { run: "worker#1", harness: "claude", model: "haiku", agent: "B", insteadOf: "large" };
  expect(line("agent.started", "engine", data)).toContain("worker#1 by B in claude (haiku instead of large)");
});

test("a call keeps the next steps of its reason apart", () => {
  const text = "X is not installed.\nIf it is: signalbox down && signalbox up\nOr take another harness.";
  expect(line("person.called", "engine", { text, command: "signalbox task retry k2m4p", tasks: 1 })).toContain(
    "signalbox down && signalbox up · Or take another harness. → signalbox task retry k2m4p",
  );
});
