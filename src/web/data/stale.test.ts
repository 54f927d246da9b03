import { expect, test } from "vitest";
import { emptyPile, marksOf, withMarks } from "./stale.ts";

test("an event makes stale what it changes, and always what a person can do and what comes next", () => {
  expect(marksOf({ type: "document.changed", task: "a" })).toMatchObject({
    parts: ["actions", "explain", "graph", "document"],
  });
  expect(marksOf({ type: "agent.ended", task: "a" }).parts).toContain("diff");
  expect(marksOf({ type: "task.created", task: "a" }).isListChanged).toBe(true);
  expect(marksOf({ type: "something.new", task: "a" }).parts).toEqual(["actions", "explain", "graph"]);
});

test("an event of the home concerns no task, and one that only history has concerns nothing", () => {
  expect(marksOf({ type: "config.changed", task: "" })).toMatchObject({
    parts: [],
    others: ["projects", "status", "config"],
  });
  expect(marksOf({ type: "request.rejected", task: "a" })).toEqual({
    task: "",
    parts: [],
    isListChanged: false,
    others: [],
  });
});

test("lists of agents and merges are read again only when one of them has changed", () => {
  expect(marksOf({ type: "agent.started", task: "a" }).others).toEqual(["questions", "runs", "agents"]);
  expect(marksOf({ type: "merge.waits", task: "a" }).others).toEqual(["merges"]);
  // A merge that went on by itself ends with the task's move.
  expect(marksOf({ type: "task.moved", task: "a" }).others).toContain("merges");
  expect(marksOf({ type: "message.sent", task: "a" }).others).toEqual([]);
});

test("many events of a task become one reading of each part", () => {
  const types = ["task.moved", "agent.started", "agent.ended", "task.moved"];
  const pile = types.reduce((before, type) => withMarks(before, marksOf({ type, task: "a" })), emptyPile);
  const parts = [...(pile.tasks.get("a") ?? [])];
  expect([...pile.tasks.keys()]).toEqual(["a"]);
  expect(parts.sort()).toEqual([...new Set(parts)].sort());
  expect(parts).toContain("runs");
});
