import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../test/contracts/samples.ts";
import { createMemoryStore } from "../adapters/store/memory.ts";
import type { SavedDecision, Store } from "../ports/store.ts";
import { rememberTasks } from "./remember-tasks.ts";

/** A store that answers a write only when it is told to. */
async function start() {
  const disk = createMemoryStore();
  await disk.addProject(sampleProject());
  await disk.createTask("coffee", sampleTask("t1"));
  let reads = 0;
  let answer = () => {};
  const slow: Store = {
    ...disk,
    getTask(id) {
      reads++;
      return disk.getTask(id);
    },
    async saveDecision(decision) {
      const stored = await disk.saveDecision(decision);
      await new Promise<void>((done) => {
        answer = done;
      });
      return stored;
    },
  };
  const store = rememberTasks(slow);
  const found = await store.getTask("t1");
  if (found === undefined) throw new Error("There is no task.");
  const { task, revision } = found;
  const decision: SavedDecision = {
    ...{ task: { ...task, status: "b" }, revision, isOpen: true, events: [], effects: [], at: 1 },
    ...{ dropsOwed: false, retriesFailed: false },
  };
  const status = async () => (await store.getTask("t1"))?.task.status;
  return { disk, store, decision, status, reads: () => reads, answer: () => answer() };
}

const untilWritten = () => new Promise((done) => setImmediate(done));

test("what is on the disk is what everybody gets, also before the one who wrote it hears of it", async () => {
  const { store, decision, status, answer } = await start();
  const saving = store.saveDecision(decision);
  await untilWritten();
  expect(await status()).toBe("b");
  answer();
  await saving;
  expect(await status()).toBe("b");
});

test("what was read while something was written is not remembered, what was written is", async () => {
  const { store, decision, status, answer, reads } = await start();
  const reading = status();
  const saving = store.saveDecision(decision);
  const meanwhile = status();
  await untilWritten();
  answer();
  await Promise.all([reading, saving, meanwhile]);
  const before = reads();
  expect(await status()).toBe("b");
  expect(reads()).toBe(before);
});
