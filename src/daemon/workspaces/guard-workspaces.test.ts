import { expect, test } from "vitest";
import { createTurns } from "../../keyed.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Project, Store } from "../../ports/store.ts";
import { guardWorkspaces, isReleased } from "./guard-workspaces.ts";
import { createPoolRoom, unbindWorkspace } from "./pool.ts";

const project = { name: "coffee", path: "/coffee", workspaces: "clone" } as Project;
const workspace: Workspace = { id: "coffee/1", project: "coffee", task: "t1", at: 0, path: "/pool/1", kind: "clone" };

/** A project with one workspace. Collecting from it blocks until the test lets it continue. */
async function start() {
  let record = workspace;
  const workspaces = {
    list: async () => [record],
    get: async () => record,
    put: async (changed: Workspace) => {
      record = changed;
    },
  };
  const store = { workspaces, getTask: async () => undefined } as unknown as Store;
  const inTurn = createTurns();
  const waiting: (() => void)[] = [];
  const collect = () => new Promise((resolve) => waiting.push(() => resolve({ commit: "aaa" })));
  const opened = { control: { collect }, kind: { kind: "clone" }, kindOf: () => ({}) };
  const { control } = await guardWorkspaces(
    { store, inTurn, clock: { now: () => 0 }, log: {} as never },
    async () => opened as never,
  )(project);
  return {
    ...{ store, waiting },
    collect: (task: string) => control.collect({ folder: workspace.path, branch: "b", task }),
    unbind: () => unbindWorkspace({ store, inTurn, clock: {} as never, room: createPoolRoom({} as never) }, workspace),
    rest: () => new Promise((resolve) => setTimeout(resolve)),
  };
}

test("nothing is collected for a task from a folder that is free or bound to another task by now", async () => {
  const { store, collect, waiting, rest } = await start();
  for (const task of ["t2", ""]) {
    await store.workspaces.put({ ...workspace, task });
    const answer = collect("t1").catch((error) => error);
    await rest();
    expect(waiting).toEqual([]);
    expect(isReleased(await answer)).toBe(true);
  }
});

test("a folder is released only after the collecting from it has ended", async () => {
  const { store, collect, unbind, waiting, rest } = await start();
  const collected = collect("t1");
  await rest();
  const unbound = unbind();
  await rest();
  expect(await store.workspaces.get(workspace.id)).toMatchObject({ task: "t1" });
  waiting[0]?.();
  expect(await collected).toEqual({ commit: "aaa" });
  await unbound;
  expect(await store.workspaces.get(workspace.id)).toMatchObject({ task: "" });
});
