import { expect, test } from "vitest";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { blankIdentity, type Task } from "../../engine/task.ts";
import { Fault } from "../../fault.ts";
import { createTurns } from "../../keyed.ts";
import type { Workspace } from "../../ports/records.ts";
import type { Log } from "../../ports/system.ts";
import type { ParkOrder } from "../../ports/workspaces.ts";
import { createParking } from "./parking.ts";
import type { ProjectWorkspaces } from "./project-workspaces.ts";

const workspace: Workspace = {
  ...{ id: "coffee/1", project: "coffee", path: "/pool/1", kind: "worktree", task: "", at: 0 },
};

/** A pool of one workspace, which was just released. `salvage` is called when its contents are saved. */
async function stage({
  salvage = async () => {},
  parked = false,
}: {
  salvage?(): Promise<void>;
  parked?: boolean;
} = {}) {
  const clock = createScriptedClock(0);
  const store = createMemoryStore();
  const settings = { workflow: "", harness: "", reviewHarness: "", branchPrefix: "", createdAt: 0 };
  const project = { name: "coffee", path: "/coffee", defaultBranch: "trunk", poolSize: 1, ...settings };
  await store.addProject({ ...project, workspaces: "worktree" });
  await store.createTask("coffee", (number) => {
    const task = { ...blankIdentity, id: "t2", project: "coffee", number, status: "todo", runs: {} } as unknown as Task;
    return { task, document: { text: "", authors: {} }, events: [], effects: [], at: 0 };
  });
  await store.workspaces.put(workspace);
  const take = () => store.workspaces.put({ ...workspace, task: "t2" });
  const touched: Omit<ParkOrder, "isFree">[] = [];
  const said: string[] = [];
  const log: Log = {
    ...{ debug() {}, warn() {}, error() {}, with: () => log, close: async () => {} },
    info: (text) => void said.push(text),
  };
  const found = { kind: "there", branch: "old", head: "c1", parked, dirty: false, untracked: 0 } as const;
  const workspaces = {
    repository: "/coffee",
    control: {
      async salvage() {
        await salvage();
        return { saved: undefined, refused: [] };
      },
    },
    kind: {
      inspect: async () => ({ ...found, operation: undefined, locked: undefined }),
      async park({ isFree, ...order }: ParkOrder) {
        const isStill = await isFree();
        if (isStill) touched.push(order);
        return isStill;
      },
    },
  } as unknown as ProjectWorkspaces;
  const parking = createParking({
    ...{ store, clock, log, inTurn: createTurns() },
    workspacesOf: async () => workspaces,
    settingsOf: () => ({ keep: ["node_modules"] }),
  });
  const pass = async (milliseconds: number) => {
    for (let i = 0; i < 20; i++) await clock.pass(i === 0 ? milliseconds : 0);
  };
  return { parking, take, touched, said, pass };
}

test("a free workspace is saved, and then cleaned at the default branch", async () => {
  let saved = 0;
  const { parking, touched, pass } = await stage({ salvage: async () => void saved++ });
  parking.released(workspace);
  await pass(900);
  expect([touched, saved]).toEqual([[], 0]);
  await pass(200);
  expect(touched).toEqual([{ folder: "/pool/1", at: "trunk", keep: ["node_modules"], holds: false }]);
  expect(saved).toBe(1);
});

test("a workspace that a task gets immediately is not parked", async () => {
  const { parking, take, touched, pass } = await stage();
  parking.released(workspace);
  await take();
  await pass(2_000);
  expect(touched).toEqual([]);
});

test("a workspace that a task gets while it is saved is not parked", async () => {
  const given = await stage({ salvage: () => given.take() });
  const { parking, touched, said, pass } = given;
  parking.released(workspace);
  await pass(2_000);
  expect([touched, said]).toEqual([[], []]);
});

test("a workspace that cannot be saved is not touched, and that is logged", async () => {
  const { parking, touched, said, pass } = await stage({
    salvage: async () => {
      throw new Fault("git.timeout", "Git did not answer.", { retry: "later" });
    },
  });
  parking.released(workspace);
  await pass(2_000);
  expect(touched).toEqual([]);
  expect(said).toEqual(["A workspace was not cleaned ahead of time"]);
});

test("a clean workspace is not touched", async () => {
  const { parking, touched, pass } = await stage({ parked: true });
  parking.released(workspace);
  await pass(2_000);
  expect(touched).toEqual([]);
});

test("no parking begins once the daemon stops", async () => {
  const { parking, touched, pass } = await stage();
  parking.released(workspace);
  await parking.stop();
  parking.released(workspace);
  await pass(2_000);
  expect(touched).toEqual([]);
});
