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

test("a person changes what a task is called and how it is made, not where it stands", () => {
  const decision = edited({ role: "human" }, { summary: "Brew it stronger", labels: ["bug"], priority: 3 });
  expect(decision).toMatchObject({
    kind: "stayed",
    task: { summary: "Brew it stronger", labels: ["bug"], priority: 3, status: task.status, entry: task.entry },
    events: [{ type: "task.edited", by: "human", data: { changed: ["summary", "labels", "priority"] } }],
    effects: [],
  });
});

test("an agent may name its branch and sharpen the summary, and nothing else", () => {
  expect(edited(worker, { branch: "stronger-coffee", summary: "Stronger" }).kind).toBe("stayed");
  expect(edited(worker, { priority: 99 })).toMatchObject({ kind: "rejected", reasons: [{ code: "only-human" }] });
  expect(edited(worker, { dependsOn: [], summary: "x" }).kind).toBe("stayed");
});

test("a run that is over changes nothing", () => {
  const decision = edited({ role: "worker", run: "worker#99" }, { summary: "x" });
  expect(decision).toMatchObject({ kind: "rejected", reasons: [{ code: "run-over" }] });
});

test("a name that git would not take is refused", () => {
  expect(edited({ role: "human" }, { branch: "-evil" })).toMatchObject({
    kind: "rejected",
    reasons: [{ code: "bad-value", text: expect.stringContaining("hyphen") }],
  });
});

test("where a task works is the engine's to say", () => {
  expect(edited({ role: "human" }, { workspace: "/tmp" })).toMatchObject({ kind: "rejected" });
  expect(edited({ role: "engine" }, { workspace: "/tmp" })).toMatchObject({
    kind: "stayed",
    task: { workspace: "/tmp" },
  });
});

test("what would change nothing is no change", () => {
  expect(edited({ role: "human" }, { summary: task.summary, labels: [...task.labels] }).kind).toBe("ignored");
});
