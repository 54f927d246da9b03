import { expect, test } from "vitest";
import type { Store, StoredTask } from "../ports/store.ts";
import { createDaemonStore } from "./daemon-store.ts";

/** A store of one task in which a write returns only after a delay. */
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
  return {
    cached: createDaemonStore(store, { wrote: () => {}, noticed: () => {} }),
    reads,
    answer: () => answer(),
  };
}

const decision = { task: { id: "t1", status: "working" } } as never;

test("a cached task is not read again", async () => {
  const { cached, reads } = slowStore();
  await cached.getTask("t1");
  await cached.getTask("t1");
  expect(reads).toEqual([1]);
});

test("a reader never gets the old task while a decision is being saved", async () => {
  const { cached, reads, answer } = slowStore();
  await cached.getTask("t1");
  const saving = cached.saveDecision(decision);
  // The effects can be read from now on, so the task must be new too.
  expect(await cached.getTask("t1")).toMatchObject({ revision: 2, task: { status: "working" } });
  answer();
  await saving;
  expect(await cached.getTask("t1")).toMatchObject({ revision: 2 });
  expect(reads).toEqual([1, 2]);
});
