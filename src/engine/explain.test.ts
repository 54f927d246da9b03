import { expect, test } from "vitest";
import { atWork, builtIn } from "../../test/engine/drive.ts";
import { explain } from "./explain.ts";

const workflow = builtIn("default");

test("says whom the task waits for, which ways there are, who may ask, and what is missing", () => {
  const { task, facts } = atWork();
  const { where, moves } = explain(workflow, task, { ...facts(), document: emptyDocument() });
  expect(where).toBe('The task is in "working" and waits for worker.');
  expect(moves).toContainEqual({
    to: "agent-review",
    by: ["worker"],
    open: false,
    command: `signalbox task update ${task.id} --status agent-review`,
    missing: ["## Handoff is missing from the task file."],
  });
  expect(moves.find(({ to }) => to === "cancelled")).toMatchObject({ by: ["human"], open: true, missing: [] });
});

test("a held task says why, and how to try again", () => {
  const { task, facts } = atWork();
  const held = { ...task, held: { reason: "The disk is full.", word: "error", again: "effects" as const } };
  const { where, blocked } = explain(workflow, held, facts());
  expect(where).toContain("held");
  expect(blocked).toEqual([
    { reason: "The disk is full.", fix: `Mend the cause, then try again: signalbox task continue ${task.id}` },
  ]);
});

test("a state that waits for a person says what the person does there", () => {
  const { task, facts } = atWork();
  const reviewing = { ...task, status: "reviewing", phase: "waiting" as const };
  const { blocked, moves } = explain(workflow, reviewing, facts());
  const [verb, id] = ["signalbox task", task.id];
  const fix = `Say yes: ${verb} approve ${id}\nAnswer: ${verb} answer ${id}\nSend it back: ${verb} request-changes ${id}`;
  expect(blocked).toEqual([{ reason: "Merge", fix }]);
  expect(moves.find(({ to }) => to === "done")).toMatchObject({ open: false, by: ["human"] });
});

test("where an agent goes on with the person's words, an answer is offered first", () => {
  const { task, facts } = atWork();
  const { blocked } = explain(workflow, { ...task, status: "clarification", phase: "waiting" }, facts());
  expect(blocked[0]?.fix.split("\n")[0]).toBe(`Answer: signalbox task answer ${task.id}`);
});

test("a task that is over has nothing left to be asked", () => {
  const { task, facts } = atWork();
  const { where, moves, blocked } = explain(workflow, { ...task, status: "done", phase: "over" }, facts());
  expect({ where, moves, blocked }).toEqual({
    where: 'The task is over: it ended in "done" (done).',
    moves: [],
    blocked: [],
  });
});

function emptyDocument() {
  return { frontmatter: "", preamble: "", sections: [], byHeading: new Map(), fingerprints: [], eol: "\n" as const };
}
