import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createTurns } from "../../keyed.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { bindWorkspace, createPoolRoom, unbindWorkspace } from "./pool.ts";

async function start() {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  for (const id of ["t1", "t2", "t3"]) await store.createTask("coffee", sampleTask(id));
  // A slow list, so that concurrent calls overtake each other.
  const slow: Store = {
    ...store,
    workspaces: {
      ...store.workspaces,
      async list(filter) {
        const found = await store.workspaces.list(filter);
        await new Promise((resolve) => setImmediate(resolve));
        return found;
      },
    },
  };
  const clock = { now: () => 1, after: () => () => {} };
  const ports = { store: slow, clock, inTurn: createTurns(), room: createPoolRoom(clock) };
  const bind = (id: string, poolSize: number) =>
    bindWorkspace(ports, { ...sampleProject(), poolSize }, "/pool", sampleTask(id)(1).task);
  return { store, bind, unbind: (workspace: Workspace) => unbindWorkspace(ports, workspace) };
}
const full = { code: "pool.full", retry: "later" };

test("tasks that request a workspace concurrently get one each, and no more than the pool has", async () => {
  const { bind } = await start();
  const bound = await Promise.allSettled(["t1", "t2", "t3"].map((id) => bind(id, 2)));
  expect(bound.map((each) => (each.status === "fulfilled" ? each.value.path : each.reason.code))).toEqual([
    "/pool/1",
    "/pool/2",
    "pool.full",
  ]);
});

test("a free workspace is reused, and a task keeps the one it has", async () => {
  const { bind, unbind } = await start();
  const [one] = [await bind("t1", 2), await bind("t2", 2)];
  await expect(bind("t3", 2)).rejects.toMatchObject(full);
  expect(await bind("t1", 2)).toEqual(one);
  await unbind(one);
  expect(await bind("t3", 2)).toMatchObject({ path: one.path, task: "t3" });
});

test("a released workspace that another task has by now is not taken from that task", async () => {
  const { store, bind, unbind } = await start();
  const one = await bind("t1", 1);
  await store.workspaces.put({ ...one, task: "t2", readyFor: "t2" });
  await unbind(one);
  expect(await store.workspaces.get(one.id)).toMatchObject({ task: "t2", readyFor: "t2" });
  await unbind({ ...one, task: "t2" });
  expect(await store.workspaces.get(one.id)).toMatchObject({ task: "" });
});

test("a pool that was made smaller binds no more tasks than its size, even if more folders exist", async () => {
  const { bind, unbind } = await start();
  const [one, two] = [await bind("t1", 2), await bind("t2", 2)];
  await unbind(one);
  await expect(bind("t3", 1)).rejects.toMatchObject(full);
  expect(await bind("t2", 1)).toEqual(two);
  await unbind(two);
  expect(await bind("t3", 1)).toMatchObject({ task: "t3" });
});
