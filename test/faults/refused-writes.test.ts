import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { TaskView } from "../../src/api/tasks.ts";
import { Fault } from "../../src/fault.ts";
import { removeFolder } from "../remove-folder.ts";
import { createScriptedClock } from "../scripted-ports.ts";
import { assemble, coffee, furnish } from "./assembled-core.ts";

const workflow = `name: alone
version: 1
states:
  todo: { waits_for: slot, next: resting }
  resting: { waits_for: 60s, next: asking }
  asking: { waits_for: human, limits: { time: 100s }, outcomes: [{ on: time, then: late }], next: over }
  late: { waits_for: human, next: over }
  over: { terminal: true }
`;

test("a task's automatic steps are retried after the disk was full, without a request", async () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-refused-"));
  onTestFinished(() => removeFolder(folder));
  furnish(folder, "alone", workflow);
  const clock = createScriptedClock(1_800_000_000_000);
  let isFull = false;
  const { core, store, ask } = assemble({
    folder,
    clock,
    performers: {},
    wrap: (whole) => ({
      ...whole,
      saveDecision: async (decision) => {
        // Let a new task settle, so that its start is what fails.
        if (isFull && decision.task.status !== "todo")
          throw new Fault("store.full", "The disk is full.", { retry: "later" });
        return whole.saveDecision(decision);
      },
    }),
  });
  onTestFinished(() => store.close());
  const rest = async (milliseconds: number) => {
    for (let i = 0; i < 12; i++) await clock.pass(i === 0 ? milliseconds : 0);
  };
  await store.addProject(coffee(folder, "alone"));
  await core.recover();
  isFull = true;
  const { task } = await ask<{ task: TaskView }>("createTask", {}, { project: "coffee", summary: "Brew" });
  const status = async () => (await store.getTask(task.id))?.task.status;
  const tried = 300_000;
  for (const [before, after, wait] of [
    ["todo", "resting", 0],
    ["resting", "asking", 60_000],
    ["asking", "late", 100_000],
  ] as const) {
    isFull = true;
    await rest(wait + tried);
    expect(await status()).toBe(before);
    isFull = false;
    // The maximum pause between two attempts; the next step has only just begun then.
    await rest(60_000 - 1);
    expect(await status()).toBe(after);
  }
});
