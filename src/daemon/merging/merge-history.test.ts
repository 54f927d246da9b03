import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import type { Merge } from "../../ports/records.ts";
import { noteMerge } from "./merge-history.ts";

const merge: Merge = {
  ...{ id: "t1", project: "coffee", task: "t1", at: 0, target: "main", strategy: "merge", to: "", by: "engine" },
  ...{ state: "merged", reason: "", files: [], commit: "aaa", before: "bbb", after: "ccc", endedAt: 1 },
};

test("merge.landed is recorded once, even if a recovery does not know that, and again when the work lands again", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  const ports = { store, clock: createScriptedClock() };
  const land = (before: string, after: string) =>
    noteMerge(ports, merge, "merge.landed", { commit: "aaa", before, after });
  await land("bbb", "ccc");
  // A recovery that finds the work in the branch knows less about its merge.
  await land("ccc", "ccc");
  await noteMerge(ports, merge, "merge.undone", { after: "ddd" });
  await land("bbb", "ccc");
  const told = (await store.listEvents({ task: "t1" }, 0, 100)).flatMap(({ event }) =>
    event.type.startsWith("merge.") ? [[event.type, event.data.before]] : [],
  );
  expect(told).toEqual([
    ["merge.landed", "bbb"],
    ["merge.undone", undefined],
    ["merge.landed", "bbb"],
  ]);
  expect(await store.merges.get("t1")).toEqual(merge);
});

test("whoever hears of a merge's event finds its record, which tells of the same", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  const found: unknown[] = [];
  const heard = {
    ...store,
    async addEvents(...given: Parameters<typeof store.addEvents>) {
      await store.addEvents(...given);
      found.push((await store.merges.get("t1"))?.state);
    },
  };
  const ports = { store: heard, clock: createScriptedClock() };
  await noteMerge(ports, { ...merge, state: "lined-up" }, "merge.asked", { strategy: "merge" });
  await noteMerge(ports, merge, "merge.landed", { after: "ccc" });
  // What the history has already is recorded again, without another event.
  await noteMerge(ports, { ...merge, reason: "Again." }, "merge.landed", { after: "ccc" });
  expect(found).toEqual(["lined-up", "merged"]);
  expect((await store.merges.get("t1"))?.reason).toBe("Again.");
});

test("a merge whose event could not be saved is not recorded either, so that a recovery after a crash repeats it", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  const full = {
    ...store,
    async addEvents() {
      throw new Error("The disk is full.");
    },
  };
  const ports = { store: full, clock: createScriptedClock() };
  await expect(noteMerge(ports, merge, "merge.landed", { after: "ccc" })).rejects.toThrow("full");
  expect(await store.merges.get("t1")).toBeUndefined();
});
