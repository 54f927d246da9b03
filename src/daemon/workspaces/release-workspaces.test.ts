import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { Fault } from "../../fault.ts";
import { createTurns } from "../../keyed.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Log } from "../../ports/system.ts";
import { createPoolRoom, type ReleaseWorkspacesPorts, releaseWorkspaces } from "./pool.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";
import { filesOf } from "./task-files.ts";

const workspace: Workspace = {
  ...{ id: "coffee/1", project: "coffee", task: "t1", at: 0, path: "/pool/1", kind: "worktree" },
};

test("a folder is released only after the writing of task files into it has ended", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  await store.workspaces.put(workspace);
  const saved: string[] = [];
  const workspaces = {
    control: {
      collect: async () => ({ commit: "c1" }),
      async salvage({ folder }: { folder: string }) {
        saved.push(folder);
        return { saved: undefined, ignored: [], repositories: [], refused: [] };
      },
    },
    kind: { inspect: async () => ({ kind: "there", branch: "mine", head: "c1", dirty: false }) },
  } as unknown as ProjectWorkspaces;
  const inTurn = createTurns();
  const writing = Promise.withResolvers<void>();
  void inTurn(filesOf("t1"), () => writing.promise);
  const given: string[] = [];
  const released = releaseWorkspaces(
    {
      ...{ store, inTurn, clock: { now: () => 0, after: () => () => {} }, log: {} as Log },
      workspacesOf: async () => workspaces,
      endRuns: async () => {},
      endCommands: async () => {},
      room: createPoolRoom({ now: () => 0, after: () => () => {} }),
      parking: { released: ({ path }) => given.push(path) },
    },
    "t1",
  );
  // Nothing else is waited for, so everything happens within moments.
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
  expect([saved, given, (await store.workspaces.get("coffee/1"))?.task]).toEqual([["/pool/1"], [], "t1"]);
  writing.resolve();
  expect(await released).toEqual(["/pool/1"]);
  expect([given, (await store.workspaces.get("coffee/1"))?.task]).toEqual([["/pool/1"], ""]);
});

test("a workspace stays bound while a run or a command of its task cannot be ended", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  await store.workspaces.put({ ...workspace, kind: "folder" });
  const undying = async () => {
    throw new Fault("processes.undying", "It still lives.", { retry: "later" });
  };
  const ports = { store, endRuns: async () => {}, endCommands: async () => {} };
  const release = (own: object) => releaseWorkspaces({ ...ports, ...own } as unknown as ReleaseWorkspacesPorts, "t1");
  for (const own of [{ endRuns: undying }, { endCommands: undying }]) {
    await expect(release(own)).rejects.toThrow("It still lives.");
    expect((await store.workspaces.get("coffee/1"))?.task).toBe("t1");
  }
  await release({});
  expect(await store.workspaces.get("coffee/1")).toBeUndefined();
});
