import { expect, test } from "vitest";
import type { EventView } from "../../api/tasks.ts";
import { findWorkflow } from "../../home/workflows.ts";
import type { Context } from "../context.ts";
import { createPaint } from "../fast/tell.ts";
import { loadSound } from "../findings.ts";
import { createOnlooker } from "./play.ts";

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
