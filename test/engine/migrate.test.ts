import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { migrate, planMigration } from "../../src/engine/migrate.ts";
import { atWork, builtIn, loadText, reasonsOf } from "./drive.ts";

const text = readFileSync(new URL("../../workflows/default.yml", import.meta.url), "utf8");
const person = { role: "human" };

test("a task keeps the workflow it was created with when the file changes", () => {
  const task = atWork();
  expect(task.task.workflowHash).toBe(builtIn("default").hash);
  expect(loadText(`${text}\n# changed\n`).hash).not.toBe(task.task.workflowHash);
});

test("the plan of a migration names what changed and where the task may be put", () => {
  const changed = loadText(
    text
      .replace("when: review_round < 2", "when: review_round < 3")
      .replace("when: review_round >= 2", "when: review_round >= 3")
      .replace("Never push.", "Never push!"),
  );
  const plan = planMigration(builtIn("default"), changed, atWork().task);
  expect(plan.isSame).toBe(false);
  expect(plan.states).toEqual({ added: [], removed: [], changed: [] });
  expect(plan.ways).toEqual({ added: [], removed: [], changed: ["agent-review → working", "agent-review → stuck"] });
  expect(plan.prompts.changed).toEqual(["worker"]);
  expect(plan.targets[0]).toBe("working");
});

test("a task whose state still waits for the same agent continues undisturbed", () => {
  const task = atWork();
  const changed = loadText(`${text}\n# changed\n`);
  const decision = migrate(builtIn("default"), changed, task.task, person, task.facts());
  expect(decision).toMatchObject({
    kind: "stayed",
    effects: [],
    task: { status: "working", workflowHash: changed.hash, runs: task.task.runs },
  });
});

test("migrating a task whose state is gone needs a target, and the refusal lists the choices", () => {
  const task = atWork();
  const other = builtIn("pipeline");
  expect(reasonsOf(migrate(builtIn("default"), other, task.task, person, task.facts()))).toMatchObject([
    { code: "no-such-state", fix: expect.stringContaining("BACKLOG") },
  ]);
  const moved = migrate(builtIn("default"), other, task.task, person, task.facts(), "TODO");
  expect(moved).toMatchObject({ kind: "moved", task: { status: "TODO", phase: "entering" } });
});

test("a run of a role that the new version does not have is ended", () => {
  const task = atWork();
  const pipeline = builtIn("pipeline");
  const decision = migrate(builtIn("default"), pipeline, task.task, person, task.facts(), "BACKLOG");
  expect(decision).toMatchObject({
    effects: [{ action: "kill_agent", params: { role: "worker" } }],
    task: { runs: {} },
  });
});

test("only a person migrates, never to a terminal state, and never a task that is over", () => {
  const task = atWork();
  const same = builtIn("default");
  expect(reasonsOf(migrate(same, same, task.task, { role: "worker" }, task.facts()))).toMatchObject([
    { code: "only-human" },
  ]);
  expect(reasonsOf(migrate(same, same, task.task, person, task.facts(), "done"))).toMatchObject([
    { code: "not-allowed" },
  ]);
  task.ask("human", "cancelled");
  expect(reasonsOf(migrate(same, same, task.task, person, task.facts()))).toMatchObject([{ code: "terminal" }]);
});

test("settings that the new version does not accept are dropped, and the plan names them", () => {
  const pipeline = builtIn("pipeline");
  const task = { ...atWork().task, settings: { auto_merge: true, agents: 3 } };
  expect(planMigration(builtIn("default"), pipeline, task).droppedSettings).toEqual(["agents"]);
});

test("a migrated task has visited its state at least once, even where only the new version counts visits", () => {
  const task = atWork();
  const counting = loadText(text.replace("- { then: agent-review }", "- { when: visits < 3, then: agent-review }"));
  const decision = migrate(builtIn("default"), counting, task.task, person, task.facts());
  expect(decision).toMatchObject({ kind: "stayed", task: { visits: { working: 1 } } });
});
