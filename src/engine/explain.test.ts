import { expect, test } from "vitest";
import { atWork, builtIn } from "../../test/engine/drive.ts";
import { explain } from "./explain.ts";

const workflow = builtIn("default");

test("an explanation names what the task waits for, its ways, who may ask for them, and what is missing", () => {
  const { task, facts } = atWork();
  const { where, moves, blocked } = explain(workflow, task, { ...facts(), document: emptyDocument() });
  expect(where).toBe('The task is in "working" and waits for worker.');
  // An agent that is at work blocks nothing.
  expect(blocked).toEqual([]);
  expect(moves).toContainEqual({
    to: "agent-review",
    by: ["worker"],
    open: false,
    command: "",
    missing: ["## Handoff is missing from the task file."],
  });
  expect(moves.find(({ to }) => to === "cancelled")).toMatchObject({ by: ["human"], open: true, missing: [] });
});

test("a state whose rules only mark its agent as dead is explained as waiting for a person", () => {
  const { task, facts } = atWork();
  const at = (name: string, status: string) =>
    explain(builtIn(name), { ...task, status, phase: "waiting" }, { ...facts(), document: emptyDocument() });
  expect(at("default", "reviewing").moves.find(({ to }) => to === "done")).toMatchObject({
    open: false,
    by: ["human"],
  });
  for (const status of ["clarification", "reviewing", "stuck"])
    expect(at("classic", status)).toMatchObject({
      where: `The task is in "${status}" and waits for a person.`,
      blocked: [],
    });
});

test("a task that waits for another one is not explained as waiting for a slot", () => {
  const { task, facts } = atWork();
  const at = (isDependent: boolean) => {
    const state = Object.values(workflow.states).find(({ wait }) => wait.kind === "slot")?.name ?? "";
    return explain(workflow, { ...task, status: state, phase: "waiting" }, facts(), "human", isDependent).where;
  };
  expect(at(false)).toMatch(/waits for a free slot\.$/);
  expect(at(true)).toMatch(/waits for what it depends on\.$/);
});

test("a task that is over has no moves", () => {
  const { task, facts } = atWork();
  const { where, moves, blocked } = explain(workflow, { ...task, status: "done", phase: "over" }, facts());
  expect({ where, moves, blocked }).toEqual({
    where: 'The task is over: it ended in "done" (done).',
    moves: [],
    blocked: [],
  });
});

test("a command is shown only to readers who may ask for the state", () => {
  const { task, facts } = atWork();
  const commands = (role: string) =>
    Object.fromEntries(explain(workflow, task, facts(), role).moves.map(({ to, command }) => [to, command]));
  const update = (to: string) => `signalbox task update ${task.id} --status ${to}`;
  expect(commands("human")).toMatchObject({
    clarification: "",
    stuck: update("stuck"),
    cancelled: update("cancelled"),
  });
  expect(commands("worker")).toMatchObject({
    ...{ clarification: update("clarification"), "agent-review": update("agent-review"), cancelled: "" },
  });
});

test("where the engine moves the task after a person's approval, the command is approve, even for unmerged work", () => {
  const pipeline = builtIn("pipeline");
  const { task, facts } = atWork();
  const unmerged = { ...facts(), numbers: { ...facts().numbers, commits: 2, merged: 0 } };
  const at = { ...task, workflowHash: pipeline.hash, status: "MERGE_READY", phase: "waiting" as const };
  const toDone = (seen: typeof at) => explain(pipeline, seen, unmerged).moves.find(({ to }) => to === "DONE");
  expect(toDone(at)).toMatchObject({ by: ["engine"], command: `signalbox task approve ${task.id}` });
  const held = { word: "unmergeable", reason: "It conflicts.", again: "do" as const };
  expect(toDone({ ...at, held })?.command).toBe(`signalbox task continue ${task.id}`);
});

function emptyDocument() {
  return { frontmatter: "", preamble: "", sections: [], byHeading: new Map(), fingerprints: [], eol: "\n" as const };
}
