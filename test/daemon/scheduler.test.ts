import { expect, test } from "vitest";
import { deleteTask } from "../../src/daemon/requests/edit-task.ts";
import { explainTask } from "../../src/daemon/requests/explain-task.ts";
import { Fault } from "../../src/fault.ts";
import type { Store } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { coreStage } from "./core-stage.ts";

const queue = `
version: 1
states:
  queued: { waits_for: slot, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: queued, to: busy, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human }
`;
const human = { role: "human" };

test("tasks start when there is a slot, the highest priority first, then the oldest", async () => {
  const { create, rest, statuses, core, errors } = await coreStage(queue, 1);
  await create("first");
  await rest();
  await create("second");
  await create("third");
  await create("urgent", { priority: 5 });
  await rest();
  expect(await statuses("first", "second", "third", "urgent")).toEqual(["busy", "queued", "queued", "queued"]);
  await core.submit("first", { kind: "continue", actor: human });
  await rest();
  expect(await statuses("first", "second", "third", "urgent")).toEqual(["done", "queued", "queued", "busy"]);
  await core.submit("urgent", { kind: "move", to: "dropped", actor: human });
  await rest();
  expect(await statuses("second", "third")).toEqual(["busy", "queued"]);
  expect(errors).toEqual([]);
});

test("no more tasks run than the project has slots, however many are created concurrently", async () => {
  const { create, rest, store } = await coreStage(queue, 3);
  await Promise.all(Array.from({ length: 20 }, (_, i) => create(`t${i}`)));
  await rest();
  const tasks = await store.listTasks({ status: "busy" }, { limit: 100 });
  expect(tasks).toHaveLength(3);
});

test("a slot is taken as soon as it is given, even if the task acquires its workspace in the state in which it waited", async () => {
  const own = queue.replace("slot,", "slot, do: [acquire_workspace],").replace(", hooks: [acquire_workspace]", "");
  const { create, rest, store, statuses, core } = await coreStage(own, 3);
  await Promise.all(Array.from({ length: 20 }, (_, i) => create(`t${i}`)));
  await rest();
  const busy = await store.listTasks({ status: "busy" }, { limit: 100 });
  expect(busy).toHaveLength(3);
  const [first] = busy;
  await core.submit(first?.task.id ?? "", { kind: "continue", actor: human });
  await rest();
  expect(await store.listTasks({ status: "busy" }, { limit: 100 })).toHaveLength(3);
  expect(await statuses(first?.task.id ?? "")).toEqual(["done"]);
});

test("if a workflow says when the next task starts, releasing a slot starts none", async () => {
  const explicit = queue.replace(
    "  - { from: any",
    "  - { from: busy, to: done, by: human, hooks: [release_workspace, spawn_next] }\n  - { from: any",
  );
  const { create, rest, statuses, core } = await coreStage(explicit, 1);
  const needed = (...tasks: readonly string[]) =>
    Promise.all(
      tasks.map(async (task) => {
        const stored = await core.store.getTask(task);
        return stored === undefined ? [] : (await core.needs.of(stored)).map(({ command }) => command);
      }),
    );
  for (const name of ["first", "second", "third", "fourth"]) await create(name);
  await create("after", { dependsOn: ["third"], priority: 9 });
  await rest();
  await core.submit("first", { kind: "continue", actor: human });
  await rest();
  expect(await statuses("first", "second", "third")).toEqual(["done", "busy", "queued"]);
  await core.submit("second", { kind: "move", to: "dropped", actor: human });
  await rest(3_600_000);
  expect(await statuses("second", "third")).toEqual(["dropped", "queued"]);
  expect(core.scheduler.isLeft("coffee")).toBe(true);
  // The waiting task needs a person, once.
  expect(await needed("third", "fourth", "after")).toEqual([["signalbox task spawn third"], [], []]);
  expect(await core.needs.counts()).toEqual({ open: 3, needPerson: 1 });
  await core.submit("third", { kind: "continue", actor: human });
  await rest();
  // It has the slot, so that no other task can start.
  expect((await needed("fourth")).flat()).toEqual([]);
  await core.submit("third", { kind: "continue", actor: human });
  await rest();
  expect(core.scheduler.isLeft("coffee")).toBe(false);
  expect(await statuses("third", "fourth", "after")).toEqual(["done", "queued", "busy"]);
});

test("a task without autostart waits for a person", async () => {
  const { create, rest, statuses, core } = await coreStage(queue, 2);
  await create("shy", { autostart: false });
  await rest(3_600_000);
  expect(await statuses("shy")).toEqual(["queued"]);
  await core.submit("shy", { kind: "continue", actor: human });
  await rest();
  expect(await statuses("shy")).toEqual(["busy"]);
});

test("a task without autostart waits for a person wherever it was created, and starts once a person has moved it there", async () => {
  const shelved = queue
    .replace("states:\n", "initial: [shelf, queued]\nstates:\n  shelf: { waits_for: human, next: queued }\n")
    .replace("slot, next", "slot, do: [acquire_workspace], next");
  const { create, rest, statuses, core } = await coreStage(shelved, 2);
  await create("shy", { autostart: false, status: "queued" });
  await create("shelved", { autostart: false });
  await rest(3_600_000);
  expect(await statuses("shy", "shelved")).toEqual(["queued", "shelf"]);
  const asked = { params: { task: "shy" }, query: {}, body: {}, caller: { kind: "human" as const } };
  expect(await explainTask(core)({ ...asked, folder: "", lastEvent: "" })).toMatchObject({
    blocked: [{ reason: "The task does not start by itself.", fix: "signalbox task continue shy" }],
  });
  await core.submit("shelved", { kind: "continue", actor: human });
  await core.submit("shy", { kind: "continue", actor: human });
  await rest();
  expect(await statuses("shy", "shelved")).toEqual(["busy", "busy"]);
});

test("a task that no person has started yet takes no slot from the others", async () => {
  const shelved = queue.replace("states:\n", "states:\n  shelf: { waits_for: human, next: queued }\n");
  const { create, rest, statuses, core } = await coreStage(shelved, 1);
  await create("shelved");
  await create("second");
  await rest();
  await core.submit("second", { kind: "continue", actor: human });
  await rest();
  expect(await statuses("shelved", "second")).toEqual(["shelf", "busy"]);
  await core.submit("shelved", { kind: "continue", actor: human });
  await rest();
  expect(await statuses("shelved", "second")).toEqual(["queued", "busy"]);
});

test("a task waits until everything it depends on is done; a cancelled dependency keeps it waiting", async () => {
  const { create, rest, statuses, core } = await coreStage(queue, 5);
  await create("base");
  await create("other");
  await create("top", { dependsOn: ["base", "other"] });
  await rest();
  expect(await statuses("base", "other", "top")).toEqual(["busy", "busy", "queued"]);
  const asked = (task: string) => ({
    ...{ params: { task }, query: {}, body: {}, caller: { kind: "human" as const }, folder: "", lastEvent: "" },
  });
  const explain = async () => explainTask(core)(asked("top"));
  expect((await explain()).next).toEqual([{ what: "Start when coffee#1 is done and coffee#2 is done", at: null }]);
  await core.submit("base", { kind: "continue", actor: human });
  await rest();
  expect(await statuses("top")).toEqual(["queued"]);
  await core.submit("other", { kind: "move", to: "dropped", actor: human });
  await rest();
  expect(await statuses("top")).toEqual(["queued"]);
  const never = 'The task depends on coffee#2, which is in "dropped" and will never be done.';
  expect(await explain()).toMatchObject({ next: [], blocked: [{ reason: never }] });
  // Deleted, it would count as done.
  await expect(deleteTask(core)(asked("other"))).rejects.toMatchObject({
    message: "coffee#3 depends on coffee#2, which was never done.",
    hint: expect.stringMatching(/signalbox task update top --depends-on ""/),
  });
  await core.submit("top", { kind: "edit", actor: human, set: { dependsOn: ["base"] } });
  await rest();
  expect(await statuses("top")).toEqual(["busy"]);
});

test("a larger pool lets the next tasks start immediately", async () => {
  const { create, rest, statuses, core } = await coreStage(queue, 1);
  await create("a1");
  await create("a2");
  await rest();
  expect(await statuses("a1", "a2")).toEqual(["busy", "queued"]);
  await core.store.updateProject("coffee", { poolSize: 2 });
  core.scheduler.wake();
  await rest();
  expect(await statuses("a2")).toEqual(["busy"]);
});

test("after a restart the scheduler knows which tasks have a slot and which wait", async () => {
  const { create, rest, statuses, core, start, store } = await coreStage(queue, 1);
  await create("a1");
  await create("a2");
  await rest();
  await core.close();
  const next = start();
  await next.recover();
  await rest();
  expect(await statuses("a1", "a2")).toEqual(["busy", "queued"]);
  await next.submit("a1", { kind: "continue", actor: human });
  await rest();
  expect(await statuses("a2")).toEqual(["busy"]);
  expect((await store.getTask("a1"))?.isOpen).toBe(false);
});

test("a workflow in the manner of seed 001 has no wait for a slot: its first way with a workspace is taken", async () => {
  const seed = `
version: 1
states: { pending: {}, asked: {}, working: {}, done: { terminal: true } }
transitions:
  - { from: pending, to: done }
  - { from: pending, to: working, hooks: [acquire_workspace] }
  - { from: pending, to: asked, hooks: [acquire_workspace] }
  - { from: asked, to: done }
  - { from: working, to: done }
`;
  const { create, rest, statuses } = await coreStage(seed, 1);
  await create("a1");
  await create("a2");
  await rest();
  expect(await statuses("a1", "a2")).toEqual(["working", "pending"]);
});

test("a task that cannot be started does not block the others of its project, and starts once it can", async () => {
  const store = createMemoryStore();
  let isDamaged = true;
  const shaky: Store = {
    ...store,
    async getTask(id) {
      if (isDamaged && id === "before") throw new Fault("store.corrupt", "A page is damaged.");
      return store.getTask(id);
    },
  };
  const { create, rest, statuses, core, errors } = await coreStage(queue, 3, shaky);
  await create("first", { priority: 5, dependsOn: ["before"] });
  await create("second");
  await rest(60_000);
  expect(await statuses("first", "second")).toEqual(["queued", "busy"]);
  expect(errors).not.toEqual([]);
  isDamaged = false;
  await rest(60_000);
  expect(await statuses("first")).toEqual(["busy"]);
  await core.close();
});

test("an outdated notification about a task does not free its slot", async () => {
  const { create, rest, store, core } = await coreStage(queue, 1);
  await create("shy", { autostart: false });
  await rest();
  const before = await store.getTask("shy");
  await core.submit("shy", { kind: "continue", actor: human });
  await rest();
  if (before !== undefined) await core.scheduler.noticed(before);
  expect(await core.scheduler.isFull("coffee", "another")).toBe(true);
});

const withTimers = `
version: 1
states:
  later: { waits_for: 30d, next: busy }
  busy: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
initial: [later, busy]
transitions:
  - { from: later, to: busy, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
`;

/** Tasks whose workspaces are recorded as the real effect does it; `isSlow` while it takes long. */
async function timerStage(poolSize: number) {
  const state = { isSlow: false };
  const waiting: (() => void)[] = [];
  const stage = await coreStage(withTimers, poolSize, createMemoryStore(), (_, submit) => ({
    performers: () => ({
      async acquire_workspace(_, { task }) {
        if (state.isSlow) await new Promise<void>((resolve) => waiting.push(resolve));
        await submit(task.id, { kind: "edit", actor: { role: "engine" }, set: { workspace: `/pool/${task.id}` } });
      },
      release_workspace: async () => {},
    }),
  }));
  const { core } = stage;
  return {
    ...stage,
    state,
    goOn: () => {
      for (const resolve of waiting.splice(0)) resolve();
    },
    isFull: (task = "another") => core.scheduler.isPoolFull("coffee", task),
  };
}

test("a task without a workspace, such as one that waits for a time, takes none of the pool", async () => {
  const { create, rest, core, isFull } = await timerStage(2);
  for (const id of ["t1", "t2", "t3"]) await create(id);
  await rest();
  expect([await isFull(), await core.scheduler.isFull("coffee", "another")]).toEqual([false, true]);
  await create("b1", { status: "busy" });
  await rest();
  expect(await isFull()).toBe(false);
  expect(await core.submit("t1", { kind: "continue", actor: human })).toMatchObject({ decision: { kind: "moved" } });
  await rest();
  expect(await isFull()).toBe(true);
  // A task that has a workspace does not count against itself.
  expect(await isFull("t1")).toBe(false);
  const { decision } = await core.submit("t2", { kind: "continue", actor: human });
  expect(decision).toMatchObject({ kind: "rejected", reasons: [{ code: "pool-full" }] });
  await core.submit("t1", { kind: "move", to: "dropped", actor: human });
  await rest();
  expect(await isFull()).toBe(false);
});

test("a task that is acquiring a workspace, or is held while it has one, takes it from the pool", async () => {
  const { create, rest, core, isFull, state, goOn } = await timerStage(1);
  state.isSlow = true;
  await create("t1");
  await rest();
  expect(await isFull()).toBe(false);
  await core.submit("t1", { kind: "continue", actor: human });
  await expect.poll(() => isFull()).toBe(true);
  goOn();
  await rest();
  expect(await isFull()).toBe(true);
  await core.submit("t1", { kind: "edit", actor: { role: "engine" }, set: { workspace: "" } });
  await rest();
  expect(await isFull()).toBe(false);
  const bound = { id: "coffee/1", project: "coffee", task: "t1", at: 0, path: "/pool/1", kind: "clone" } as const;
  await core.store.workspaces.put(bound);
  expect(await isFull()).toBe(true);
});
