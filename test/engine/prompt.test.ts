import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { buildPrompt, fillText } from "../../src/engine/prompt.ts";
import type { Settings } from "../../src/engine/workflow.ts";
import { oneLine } from "../../src/text.ts";
import { atWork, builtIn, drive, loadText } from "./drive.ts";

const outside = { cli: "signalbox", task_file: "TASK.md", base: "main" };

test("a prompt is filled with values of the task, its settings and its answers", () => {
  const { task } = atWork();
  const built = buildPrompt(builtIn("default"), task, "worker", outside);
  expect(built.ok && built.text).toContain(
    "# Task: Brew coffee\nProject coffee, branch signalbox/t1. The task file is TASK.md.",
  );
  const team = drive(builtIn("team"));
  const answered = { ...team.task, results: { clarification: { status: "ready", message: "Brew it." } } };
  const plan = buildPrompt(builtIn("team"), answered, "plan", { ...outside, requirement: "Brew it." });
  expect(plan.ok && plan.text).toMatch(/^Requirement: Brew it\.\n.*\nSplit it into subtasks that 3 engineers/);
  // Braces of JSON examples are text.
  expect(plan.ok && plan.text).toContain('{"subtasks": [{"id", "title", "description", "needs": [ids], ');
});

test("a message is part of the prompt, and is filled too", () => {
  const { task } = atWork();
  const built = buildPrompt(builtIn("default"), task, "worker_respawn", outside, "Read {task_file}.");
  expect(built.ok && built.text.endsWith("Never push.\n\nRead TASK.md.\n")).toBe(true);
});

test("variables inside a value are never filled", () => {
  const workflow = builtIn("default");
  fc.assert(
    fc.property(fc.string(), (words) => {
      const summary = `${words}{status}{{cli}}{nope}`;
      const built = buildPrompt(workflow, { ...atWork().task, summary }, "worker", outside);
      expect(built.ok && built.text).toContain(`# Task: ${oneLine(summary)}\n`);
    }),
    { numRuns: 50 },
  );
});

test("an unknown variable and an unknown prompt are errors; a known variable without a value is empty", () => {
  const workflow = loadText(
    "version: 1\nstates: { a: { waits_for: human, next: b }, b: { terminal: true } }\nprompts: { p: '[{diff}] {{name}}' }",
  );
  const { task } = drive(workflow);
  expect(buildPrompt(workflow, task, "p", {})).toEqual({ ok: true, text: "[] {name}" });
  expect(buildPrompt(workflow, task, "q", {})).toMatchObject({ ok: false });
  expect(buildPrompt({ ...workflow, prompts: { p: "{nope} {results.x}" } }, task, "p", {})).toEqual({
    ok: false,
    problem: "There is no value for {nope}, {results.x}.",
  });
});

test("every prompt of every built-in workflow can be built", () => {
  const folder = new URL("../../workflows/", import.meta.url);
  for (const file of readdirSync(folder)) {
    const workflow = loadText(readFileSync(new URL(file, folder), "utf8"), file);
    const { task } = drive(workflow);
    for (const key of Object.keys(workflow.prompts))
      expect([file, key, buildPrompt(workflow, task, key, outside).ok]).toEqual([file, key, true]);
  }
});

test("the next stages are those of the usual way, as the settings choose them", () => {
  const stages = (status: string, settings: Settings) => {
    const { task } = drive(builtIn("pipeline"), { settings });
    const built = fillText(builtIn("pipeline"), { ...task, status }, "{next_stages}", {});
    return built.ok ? built.text.split(", ") : [];
  };
  const rest = ["IMPLEMENT", "PR_REVIEW", "PR_HUMAN_REVIEW", "TESTING", "DOC_REVIEW", "MERGE_READY", "DONE"];
  expect(stages("CONTEXT_PACK", { spec: true })).toEqual(["CONTEXT_REVIEW", "SPEC", "SPEC_REVIEW", ...rest]);
  expect(stages("CONTEXT_PACK", { spec: false })).toEqual(["CONTEXT_REVIEW", ...rest]);
  expect(stages("FIXER", { spec: true })).toEqual(rest.slice(1));
  expect(stages("DONE", {})).toEqual([""]);
});
