import { expect, test } from "vitest";
import type { Store, StoredTask } from "../ports/store.ts";
import { rememberTasks } from "./remember-tasks.ts";

/** A store of one task that keeps whoever writes waiting after it has written. */
function slowStore() {
  let stored = { task: { id: "t1", status: "todo" }, revision: 1 } as unknown as StoredTask;
  let answer = () => {};
  const reads: number[] = [];
  const store = {
    async getTask() {
      reads.push(stored.revision);
      return stored;
    },
    async saveDecision({ task }: { task: StoredTask["task"] }) {
      stored = { ...stored, task, revision: stored.revision + 1 };
      const saved = stored;
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return saved;
    },
  } as unknown as Store;
  return { remembering: rememberTasks(store), reads, answer: () => answer() };
}

const decision = { task: { id: "t1", status: "working" } } as never;

test("a task is known without being read again", async () => {
  const { remembering, reads } = slowStore();
  await remembering.getTask("t1");
  await remembering.getTask("t1");
  expect(reads).toEqual([1]);
});

test("who asks while a decision is being saved is not told how the task was before it", async () => {
  const { remembering, reads, answer } = slowStore();
  await remembering.getTask("t1");
  const saving = remembering.saveDecision(decision);
  // What it owes can be read from now on, so the task must be as new.
  expect(await remembering.getTask("t1")).toMatchObject({ revision: 2, task: { status: "working" } });
  answer();
  await saving;
  expect(await remembering.getTask("t1")).toMatchObject({ revision: 2 });
  expect(reads).toEqual([1, 2]);
});
