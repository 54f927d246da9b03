import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import type { Task } from "../../engine/task.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { createTurns } from "../turns.ts";
import { bindWorkspace, unbindWorkspace } from "./bind-workspace.ts";

const workspace: Workspace = {
  ...{ id: "coffee/1", project: "coffee", task: "t1", at: 0, path: "/pool/1", kind: "worktree", readyFor: "t1" },
};

async function start(poolSize = 2) {
  const store = createMemoryStore();
  const project = { ...sampleProject(), poolSize };
  await store.addProject(project);
  const tasks: Task[] = [];
  for (const id of ["t1", "t2", "t3"]) tasks.push((await store.createTask("coffee", sampleTask(id))).task);
  // Whoever looks is overtaken by others.
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
  const ports = { store: slow, clock: { now: () => 0, after: () => () => {} }, inTurn: createTurns() };
  return { store, ports, tasks, bind: (task: Task) => bindWorkspace(ports, project, "/pool", task) };
}

test("tasks that want a workspace at once get one each, and no more than the pool has", async () => {
  const { tasks, bind } = await start();
  const bound = await Promise.allSettled(tasks.map(bind));
  expect(bound.map((each) => (each.status === "fulfilled" ? each.value.path : each.reason.code))).toEqual([
    "/pool/1",
    "/pool/2",
    "pool.full",
  ]);
});

test("a workspace that was given back, and is another task's by now, is not taken away from that", async () => {
  const { store, ports } = await start();
  await store.workspaces.put({ ...workspace, task: "t2", readyFor: "t2" });
  await unbindWorkspace(ports, workspace);
  expect(await store.workspaces.get("coffee/1")).toMatchObject({ task: "t2", readyFor: "t2" });
  await unbindWorkspace(ports, { ...workspace, task: "t2" });
  expect(await store.workspaces.get("coffee/1")).toMatchObject({ task: "" });
});
