import { expect, test } from "vitest";
import { builtIn, drive, loadText } from "../../test/engine/drive.ts";
import { personActions } from "./person-actions.ts";
import type { Task } from "./task.ts";

const around = { terminals: [], alive: [], hasWorked: true, hasFailed: false, isMerging: false, hasWork: true };
const nobody = { ...around, hasRemote: true };

const flow = loadText(`name: flow
version: 1
states:
  look: { waits_for: human, next: build }
  build: { agent: { role: worker, prompt: work, mode: turn }, next: shown }
  shown: { waits_for: human, next: check }
  check: { do: [run_tests], next: joining }
  joining: { do: [merge], next: end }
  sent: { do: [push_branch], next: look }
  end: { terminal: true }
  off: { terminal: true, outcome: cancelled }
transitions:
  - { from: look, to: sent, by: human }
  - { from: shown, to: end, by: human }
  - { from: any, to: off, by: human }
prompts: { work: "Work on {summary}." }
`);

/** What follows from each action that is allowed in this state. */
function following(workflow: typeof flow, status: string, more: Partial<Task> = {}, owed: readonly string[] = []) {
  const { task, facts } = drive(workflow);
  const seen = { ...nobody, hasFailed: owed.length > 0, owed };
  const actions = personActions(workflow, { ...task, phase: "waiting", status, ...more } as Task, facts(), seen);
  const found = actions.filter(({ allowed, consequence }) => allowed && consequence !== "none");
  return found.map(({ name, to, consequence }) => `${name} ${to}: ${consequence}`);
}

test("an approval with which the workflow merges without waiting again has that consequence, however many states it passes", () => {
  expect(following(flow, "shown")).toEqual(
    expect.arrayContaining(["approve check: merge", "continue check: merge", "move end: end", "cancel off: end"]),
  );
});

test("an approval after which an agent works has none, and a move to a state that pushes pushes", () => {
  const found = following(flow, "look");
  expect(found).toContain("move sent: push");
  expect(found.filter((each) => /^(approve|continue)/.test(each))).toEqual([]);
});

test("to continue a task that is held in the work of a state that merges, or to retry its merge, merges", () => {
  const held = { reason: "The disk is full.", word: "error", again: "do" as const };
  expect(following(flow, "joining", { held, phase: "doing" })).toContain("continue : merge");
  const failed = { ...held, again: "effects" as const };
  const found = following(flow, "joining", { held: failed, phase: "doing" }, ["merge"]);
  expect(found).toEqual(expect.arrayContaining(["continue : merge", "retry : merge"]));
});

test("where a person's approval merges the work before the task moves, it has the consequence of merge", () => {
  expect(following(builtIn("default"), "reviewing", { workspace: "/w" })).toEqual(
    expect.arrayContaining(["approve done: merge", "merge done: merge"]),
  );
});
