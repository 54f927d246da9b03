import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import type { Log } from "../../ports/log.ts";
import type { Workspace } from "../../ports/records.ts";
import { createTurns } from "../turns.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";
import { removeWorkspace } from "./remove-workspace.ts";

const workspace: Workspace = {
  ...{ id: "coffee/1", project: "coffee", task: "", at: 0, path: "/pool/1", kind: "worktree" },
};

/** Removes a workspace that is bound to this task by the time its turn has come. Gives what happened to the folder. */
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

test("a free workspace goes once what is in it is saved, and whoever takes it away is told where", async () => {
  const { saved, ...rest } = await remove("");
  expect(rest).toEqual({ isRemoved: true, isKnown: false, happened: ["saved", ["/pool/1", saved]] });
});

test("one that a task has got in the meantime stays, and nobody touches it", async () => {
  expect(await remove("t1")).toMatchObject({ isRemoved: false, isKnown: true, happened: [] });
});
