import { expect, test } from "vitest";
import { atWork, builtIn } from "../../test/engine/drive.ts";
import { decide } from "./decide.ts";
import type { TaskEdit } from "./task.ts";

const workflow = builtIn("default");
const { task, facts } = atWork();
const worker = { role: "worker", run: task.runs.worker?.key ?? "" };

function edited(actor: { role: string; run?: string }, set: TaskEdit) {
  return decide(workflow, task, { kind: "edit", actor, set }, facts());
}

test("a person can edit a task's fields, but not its state", () => {
  const decision = edited({ role: "human" }, { summary: "Brew it stronger", labels: ["bug"], priority: 3 });
  expect(decision).toMatchObject({
    kind: "stayed",
    task: { summary: "Brew it stronger", labels: ["bug"], priority: 3, status: task.status, entry: task.entry },
    events: [{ type: "task.edited", by: "human", data: { changed: ["summary", "labels", "priority"] } }],
    effects: [],
  });
});

test("an agent may edit the branch and the summary, and nothing else", () => {
  expect(edited(worker, { branch: "stronger-coffee", summary: "Stronger" }).kind).toBe("stayed");
  expect(edited(worker, { priority: 99 })).toMatchObject({ kind: "rejected", reasons: [{ code: "only-human" }] });
  expect(edited(worker, { dependsOn: [], summary: "x" }).kind).toBe("stayed");
});

test("a run that is over cannot edit its task", () => {
  const decision = edited({ role: "worker", run: "worker#99" }, { summary: "x" });
  expect(decision).toMatchObject({ kind: "rejected", reasons: [{ code: "run-over" }] });
});

test("a branch name that git does not accept is refused", () => {
  expect(edited({ role: "human" }, { branch: "-evil" })).toMatchObject({
    kind: "rejected",
    reasons: [{ code: "bad-value", text: expect.stringContaining("hyphen") }],
  });
});

test("only the engine can set the workspace of a task", () => {
  expect(edited({ role: "human" }, { workspace: "/tmp" })).toMatchObject({ kind: "rejected" });
  expect(edited({ role: "engine" }, { workspace: "/tmp" })).toMatchObject({
    kind: "stayed",
    task: { workspace: "/tmp" },
  });
});

test("an edit that changes nothing is ignored", () => {
  expect(edited({ role: "human" }, { summary: task.summary, labels: [...task.labels] }).kind).toBe("ignored");
});
