import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { builtIn } from "../../../test/engine/drive.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import type { Merge } from "../../ports/records.ts";
import { findNeeds, type NeedPorts } from "./needs.ts";

/** The reasons why a task that was changed at 1000 needs a person, with this merge of it. */
async function reasons(merge: Partial<Merge>) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const stored = await store.createTask("coffee", sampleTask("t1", { status: "reviewing", phase: "waiting" }));
  await store.merges.put({
    ...{ id: "t1", project: "coffee", task: "t1", at: 0, target: "main", reason: "It conflicts." },
    ...merge,
  } as Merge);
  const ports = {
    store,
    clock: { now: () => 9_000 },
    workflowOf: async () => builtIn("minimal"),
    agents: () => undefined,
  };
  return (await findNeeds(ports as unknown as NeedPorts, stored, new Map())).map(({ reason }) => reason);
}

test("a refused merge is reported until the task changes, because the change may have solved the problem", async () => {
  expect(await reasons({ state: "refused", endedAt: 1_000 })).toContain("merge");
  expect(await reasons({ state: "refused", endedAt: 999 })).not.toContain("merge");
});

test("a task that is being merged needs no person while it stays in the state in which the merge was requested", async () => {
  expect(await reasons({ state: "lined-up" })).toEqual([]);
  expect(await reasons({ state: "lined-up", entry: 99 })).toEqual(["approval"]);
});

test("a merge that waits for the person is reported however old it is, and a finished merge is not", async () => {
  expect(await reasons({ state: "waits" })).toContain("merge");
  for (const state of ["lined-up", "merged", "undone"] as const)
    expect(await reasons({ state, endedAt: 1_000 }), state).not.toContain("merge");
});
