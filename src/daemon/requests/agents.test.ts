import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { builtIn, drive } from "../../../test/engine/drive.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import type { Task } from "../../engine/task.ts";
import type { Agent, Merge, Run } from "../../ports/records.ts";
import type { StoredTask } from "../../ports/store.ts";
import type { Core } from "../core.ts";
import { findNeeds } from "../needs/needs.ts";
import { agentView } from "./agents.ts";

const crew = builtIn("crew");
const agent: Agent = {
  ...{ id: "coffee/A", project: "coffee", task: "t1", at: 0, role: "worker", harness: "", model: "" },
  ...{ state: "idle", reason: "" },
};
const atWork: Partial<Task> = {
  ...drive(crew).task,
  ...{ status: "working", phase: "waiting", runCount: 1 },
  runs: { worker: { key: "worker#1", mode: "steps" } },
};

/** The view right after a restart, when no run is watched yet. */
async function view(task: Partial<Task>, run?: Partial<Run>, waiting?: string, merge?: Partial<Merge>) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1", task));
  if (run !== undefined) {
    const { started, ...rest } = run;
    await store.runs.put({
      ...{ id: "t1/worker#1", project: "coffee", task: "t1", at: 0, key: "worker#1", role: "worker", pid: 0 },
      ...rest,
      started: { raised: "", mode: "steps", ...started },
    } as Run);
  }
  if (merge !== undefined) await store.merges.put({ id: "t1", project: "coffee", task: "t1", ...merge } as Merge);
  const roster = { workOf: () => undefined, stuckOf: () => undefined };
  const agents = { watches: () => [], book: { list: () => [] }, dispatch: { whyWaiting: () => waiting }, roster };
  const scheduler = { waits: () => false };
  const looking = { store, clock: { now: () => 0, after: () => () => {} }, workflowOf: async () => crew };
  const needs = {
    of: (stored: StoredTask) => findNeeds({ ...looking, agents: () => undefined }, stored, new Map()),
  };
  return agentView({ store, agents, scheduler, needs, workflows: { get: async () => crew } } as unknown as Core, agent);
}

test("an agent whose program was started is working, also before its run is watched again", async () => {
  expect(await view(atWork, { pid: 12 })).toMatchObject({ state: "working", reason: "" });
  expect(await view(atWork, { pid: 0 })).toMatchObject({ state: "ready" });
  expect(await view(atWork, { pid: 12, endedAt: 5 })).toMatchObject({ state: "ready" });
  const raised = { raised: "It asks." } as NonNullable<Run["started"]>;
  expect(await view(atWork, { pid: 12, started: raised })).toMatchObject({ state: "stuck", reason: "It asks." });
});

test("an agent that cannot start or continue shows why, and that reason comes before an earlier failure", async () => {
  expect(await view(atWork, { pid: 0 }, "No room.")).toMatchObject({ state: "ready", reason: "No room." });
  const failed = { ...atWork, crashCount: 1, reason: "It fell." };
  expect(await view(failed, { pid: 0 }, "No room.")).toMatchObject({ state: "working", reason: "No room." });
  expect(await view(failed, { pid: 0 })).toMatchObject({ state: "working", reason: "It fell." });
  expect(await view(failed, { pid: 12 }, "No room.")).toMatchObject({ state: "working", reason: "" });
});

test("an agent whose work is done but cannot be merged yet shows what blocks the merge", async () => {
  const merging: Partial<Task> = { ...atWork, status: "merging", phase: "doing", runs: {} };
  const merge: Partial<Merge> = { state: "waits", target: "main", reason: "Yours." };
  const reason = 'It waits to be merged into "main". Yours.';
  expect(await view(merging, undefined, undefined, merge)).toMatchObject({ state: "done", reason });
  expect(await view(merging)).toMatchObject({ state: "done", reason: "" });
});
