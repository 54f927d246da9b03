import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createTurns } from "../../keyed.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Log } from "../../ports/system.ts";
import { removeWorkspace } from "./pool.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

const workspace: Workspace = {
  ...{ id: "coffee/1", project: "coffee", task: "", at: 0, path: "/pool/1", kind: "worktree" },
};

/** Removes a workspace that is bound to this task by the time the mutex is free. Returns what happened to the folder. */
async function remove(task: string) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  await store.workspaces.put({ ...workspace, task });
  const happened: unknown[] = [];
  const saved = { ref: "refs/signalbox/salvage/free/1", commit: "c1" };
  const workspaces = {
    control: {
      async salvage() {
        happened.push("saved");
        return { saved, ignored: [], repositories: [], refused: [] };
      },
    },
    kind: {
      inspect: async () => ({ kind: "there", branch: "old", head: "c0", dirty: true }),
      async remove(folder: string, salvage: { saved: unknown } | undefined) {
        happened.push([folder, salvage?.saved]);
      },
    },
  } as unknown as ProjectWorkspaces;
  const log = { info() {}, warn() {} } as unknown as Log;
  const ports = { store, log, clock: { now: () => 0, after: () => () => {} }, inTurn: createTurns() };
  const isRemoved = await removeWorkspace(ports, workspaces, workspace);
  return { isRemoved, happened, saved, isKnown: (await store.workspaces.get("coffee/1")) !== undefined };
}

test("a free workspace is removed after its contents are saved, and the removal gets the salvage", async () => {
  const { saved, ...rest } = await remove("");
  expect(rest).toEqual({ isRemoved: true, isKnown: false, happened: ["saved", ["/pool/1", saved]] });
});

test("a workspace that a task got meanwhile is not removed", async () => {
  expect(await remove("t1")).toMatchObject({ isRemoved: false, isKnown: true, happened: [] });
});
