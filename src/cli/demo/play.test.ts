import { expect, test } from "vitest";
import { Refusal } from "../../api/client.ts";
import type { EventView, TaskView } from "../../api/tasks.ts";
import { findWorkflow } from "../../home/workflows.ts";
import type { Context } from "../context.ts";
import { createPaint } from "../fast/tell.ts";
import { loadSound } from "../findings.ts";
import { createOnlooker, createPerson } from "./play.ts";

const workflow = loadSound(findWorkflow({ home: "/nowhere" }, "default"));
const began = Date.parse("2026-03-01T10:00:00.000Z");

function linesOf(events: readonly Partial<EventView>[], isQuiet = false): readonly string[] {
  const lines: string[] = [];
  const print = (text: string) => void lines.push(text);
  const context = { print, paint: createPaint(false), isTerminal: false, process: { stdout: {} } };
  const onlooker = createOnlooker(context as unknown as Context, { workflow, began, isQuiet });
  const at = "2026-03-01T10:00:01.500Z";
  for (const event of events) onlooker.happened({ task: "a", by: "engine", data: {}, at, ...event } as EventView);
  onlooker.close();
  return lines;
}

const created = { type: "task.created", by: "human", data: { status: "pending", workflow: "default" } };
const reviewed = {
  type: "task.moved",
  by: "reviewer",
  data: { from: "agent-review", to: "working", run: "reviewer#2", evidence: [{ section: "Review" }] },
};

test("without a terminal each notable event is one line, and other events are left out", () => {
  const answered = { type: "document.changed", by: "human", data: { sections: ["Answers"] } };
  const planned = { type: "document.changed", by: "worker", data: { sections: ["Plan"] } };
  const message = { type: "message.sent", data: { to: "worker#1", text: "Read it,\nplease." } };
  const ended = { type: "agent.ended", by: "worker", data: { run: "worker#1", word: "exit" } };
  const wait = { type: "agent.ended", by: "worker", data: { word: "exit", reason: "It was ended by SIGKILL." } };
  const held = { type: "task.held", data: { word: "exit", reason: "It ended." } };
  expect(linesOf([created, { type: "task.settled" }, planned, reviewed, answered, message, ended, wait, held])).toEqual(
    [
      "  1.5s  #1  created, with the workflow default",
      "  1.5s  #1  agent-review → working, by reviewer#2 with ## Review: FAIL",
      "  1.5s  #1  a person writes ## Answers",
      "  1.5s  #1  worker#1 is told: Read it, please.",
      "  1.5s  #1  worker#1 has died",
      "  1.5s  #1  task.held: It ended. (exit)",
    ],
  );
});

test("in quiet mode nothing is shown", () => {
  expect(linesOf([created, reviewed], true)).toEqual([]);
});

const seen = (reason: string, id = "a") =>
  [
    { id, number: 1, branch: "menu", held: null, needsPerson: true, status: "reviewing", needs: [{ reason }] },
  ] as unknown as readonly TaskView[];

test("the demo's person merges no task that needs something else than a word", async () => {
  const merged: string[] = [];
  const call = async (_: unknown, { params }: { params: { task: string } }) => {
    merged.push(params.task);
    return { state: "merged", reason: "" };
  };
  const person = createPerson(call as never, idle, 0);
  person.look([...seen("agent", "slow"), ...seen("approval", "ready")], performance.now());
  await expect.poll(() => merged.length).toBeGreaterThan(0);
  expect(merged).toEqual(["ready"]);
});

test("the demo's person looks again after a merge that came too early, and not after another refusal", async () => {
  const answers: (() => unknown)[] = [
    () => {
      throw new Refusal([{ code: "not-waiting", text: "It is not ready to be merged.", fix: "" }]);
    },
    () => ({ state: "merged", reason: "" }),
    () => {
      throw new Refusal([{ code: "guard", text: "It must not be merged.", fix: "" }]);
    },
  ];
  let calls = 0;
  const person = createPerson((async () => answers[calls++]?.()) as never, idle, 0);
  const look = (times: number) =>
    expect
      .poll(() => {
        if (calls < times) person.look(seen("approval"), performance.now());
        return calls;
      })
      .toBe(times);
  await look(1);
  await look(2);
  await look(3);
  await expect(person.failed).rejects.toThrow("It must not be merged.");
});

const idle = new AbortController().signal;
