import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import { createTurns } from "../turns.ts";
import { bindWorkspace, unbindWorkspace } from "./bind-workspace.ts";

async function start() {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  for (const id of ["t1", "t2", "t3"]) await store.createTask("coffee", sampleTask(id));
  const ports = { store, inTurn: createTurns(), clock: { now: () => 1 } as never };
  const bind = (id: string, poolSize: number) =>
    bindWorkspace(ports, { ...sampleProject(), poolSize }, "/pool", sampleTask(id)(1).task);
  return { bind, unbind: unbindWorkspace.bind(undefined, ports) };
}
const full = { code: "pool.full", retry: "later" };

test("each task has a folder of its own, a free one is used again, and who has one keeps it", async () => {
  const { bind, unbind } = await start();
  const [one, two] = [await bind("t1", 2), await bind("t2", 2)];
  expect([one.path, two.path]).toEqual(["/pool/1", "/pool/2"]);
  await expect(bind("t3", 2)).rejects.toMatchObject(full);
  expect(await bind("t1", 2)).toEqual(one);
  await unbind(one);
  expect(await bind("t3", 2)).toMatchObject({ path: one.path, task: "t3" });
});

test("in a pool that was made smaller no more tasks have one than it says, though folders are left", async () => {
  const { bind, unbind } = await start();
  const [one, two] = [await bind("t1", 2), await bind("t2", 2)];
  await unbind(one);
  await expect(bind("t3", 1)).rejects.toMatchObject(full);
  expect(await bind("t2", 1)).toEqual(two);
  await unbind(two);
  expect(await bind("t3", 1)).toMatchObject({ task: "t3" });
});
