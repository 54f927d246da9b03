import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeChildren } from "../../src/daemon/children/make-child.ts";
import { childProgress, explainChildren } from "../../src/daemon/children/progress.ts";
import { makeTask } from "../../src/daemon/make-task.ts";
import { migrateTask } from "../../src/daemon/requests/edit-task.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { Fault } from "../../src/fault.ts";
import type { StoredTask } from "../../src/ports/store.ts";
import { sampleDecision } from "../contracts/samples.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { childrenStage, parentWorkflow, partWorkflow } from "./children-stage.ts";
import { policies, shareOneWorkspace } from "./crowded-parents.ts";

const human = { role: "human" };

test("a fan-out creates one waiting child for each item at once, and starts as many as may run in parallel", async () => {
  const stage = await childrenStage();
  const settings = { words: "many", agents: 2 };
  await stage.plan("p1", [{ id: "a" }, { id: "b" }, { id: "c", needs: ["a"] }], {
    ...{ harness: "h", reviewHarness: "r", model: "m", priority: 3, labels: ["x"], settings, autostart: true },
  });
  expect(await stage.states("p1")).toEqual(["a running 1", "b running 2", "c waiting"]);
  const child = await stage.childFor("p1", "c");
  expect(child).toMatchObject({
    ...{ project: "coffee", parent: "p1", base: "p1", summary: "Do c", workflow: "part", autostart: true },
    ...{ harness: "h", reviewHarness: "r", model: "m", priority: 3, labels: ["x"], settings: { words: "many" } },
    part: { item: "c", try: 1, title: "Do c", description: "About c" },
  });
  const [created] = await stage.store.listEvents({ task: child.id }, 0, 1);
  expect(created?.event).toMatchObject({ by: "engine", data: { parent: "p1", item: "c", try: 1 } });
  await stage.finish("p1", "a");
  expect(await stage.states("p1")).toEqual(["a done 1", "b running 2", "c running 1"]);
  await stage.finish("p1", "b");
  await stage.finish("p1", "c");
  expect(await stage.statuses("p1")).toEqual(["done"]);
  expect(stage.errors).toEqual([]);
});

test("a failed part is tried once more with the reason, then the parts that need it are skipped, and the rest is built", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }, { id: "b", needs: ["a"] }, { id: "c" }]);
  await stage.finish("p1", "a", "error");
  expect(await stage.states("p1")).toEqual(["a running 1 try 2", "b waiting", "c running 2"]);
  const second = await stage.childFor("p1", "a");
  expect(second.part?.reason).toContain("a broke");
  await stage.finish("p1", "a", "error");
  expect(await stage.states("p1")).toEqual(["a failed 1 try 2", "b skipped", "c running 2"]);
  expect(await stage.childFor("p1", "b")).toMatchObject({
    status: "dropped",
    reason: 'Skipped: it needs "a", which failed.',
  });
  expect(await stage.statuses("p1")).toEqual(["building"]);
  await stage.finish("p1", "c");
  expect(await stage.statuses("p1")).toEqual(["done"]);
  expect(await stage.all("p1")).toHaveLength(4);
  const ended = (await stage.store.listEvents({ task: "p1" }, 0, 100)).find(
    ({ event }) => event.type === "children.ended",
  );
  expect(ended?.event.data).toEqual({ word: "ok", reason: "1 of 3 done. Failed: a. Skipped: b." });
});

test("with the policy continue no part is tried again, and without any done part the guard sees none", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }, { id: "b", needs: ["a"] }], { settings: { policy: "continue" } });
  await stage.finish("p1", "a", "error");
  expect(await stage.states("p1")).toEqual(["a failed 1", "b skipped"]);
  expect(await stage.statuses("p1")).toEqual(["failed"]);
});

test("with the policy stop the first failure stops the running siblings and skips the others", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }, { id: "b" }, { id: "c" }], { settings: { policy: "stop" } });
  await stage.finish("p1", "a", "error");
  expect(await stage.states("p1")).toEqual(["a failed 1", "b skipped 2", "c skipped"]);
  expect(await stage.childFor("p1", "b")).toMatchObject({
    ...{ status: "dropped", workspace: "", runs: {} },
    reason: 'Stopped: "a" was not done, and the policy is stop.',
  });
  // No rule of the workflow covers an error, so the parent is held; continuing it tries the parts again.
  expect((await stage.store.getTask("p1"))?.task).toMatchObject({ status: "building", held: { word: "error" } });
  await stage.core.submit("p1", { kind: "continue", actor: human });
  await stage.rest();
  expect(await stage.states("p1")).toEqual(["a running 1 try 2", "b running 2 try 2", "c waiting try 2"]);
  for (const item of ["a", "b", "c"]) await stage.finish("p1", item);
  expect(await stage.statuses("p1")).toEqual(["done"]);
});

test("with waves a part starts only when the wave before it has ended", async () => {
  const stage = await childrenStage();
  const items = [{ id: "a" }, { id: "b" }, { id: "c", needs: ["a"] }];
  await stage.plan("p1", items, { settings: { waves: true, agents: 4 } });
  await stage.finish("p1", "a");
  expect(await stage.states("p1")).toEqual(["a done 1", "b running 2", "c waiting"]);
  await stage.finish("p1", "b");
  expect(await stage.states("p1")).toEqual(["a done 1", "b done 2", "c running 1"]);
});

test("a part that a person cancels is not tried again, and the parts that need it are skipped", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }, { id: "b", needs: ["a"] }, { id: "c" }]);
  const { id } = await stage.childFor("p1", "a");
  await stage.core.submit(id, { kind: "move", to: "dropped", actor: human });
  await stage.rest();
  expect(await stage.states("p1")).toEqual(["a skipped 1", "b skipped", "c running 2"]);
  await stage.finish("p1", "c");
  expect(await stage.statuses("p1")).toEqual(["done"]);
});

test("a part that waits for its parent cannot be started by a person", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }, { id: "b", needs: ["a"] }]);
  const { id } = await stage.childFor("p1", "b");
  const { decision } = await stage.core.submit(id, { kind: "continue", actor: human });
  expect(decision).toMatchObject({
    kind: "rejected",
    reasons: [{ text: 'The task is the part "b" of p1, which has not given it a slot yet.' }],
  });
});

test("a parent that is cancelled while its children work ends them first, and only then is over", async () => {
  let isReleased = false;
  const stage = await childrenStage({
    performers: {
      release_workspace: async (_, { task }) => {
        if (!isReleased && task.part?.item === "a")
          await new Promise<void>((resolve) => stage.clock.after(5_000, resolve));
        isReleased = task.part?.item === "a" || isReleased;
      },
    },
  });
  await stage.plan("p1", [{ id: "a" }, { id: "b" }, { id: "c", needs: ["a"] }]);
  await stage.core.submit("p1", { kind: "move", to: "dropped", actor: human }, undefined, "brake");
  await stage.rest();
  expect((await stage.newest("p1")).map(({ task }) => task.status)).toEqual(["dropped", "dropped", "dropped"]);
  expect(await stage.store.getTask("p1")).toMatchObject({ isOpen: true, task: { status: "dropped" } });
  await stage.rest(5_000);
  expect(await stage.states("p1")).toEqual(["a skipped 1", "b skipped 2", "c skipped"]);
  expect(await stage.childFor("p1", "b")).toMatchObject({ reason: 'Stopped: its parent ended in "dropped".' });
  expect(await stage.store.getTask("p1")).toMatchObject({ isOpen: false });
  expect(await stage.store.openEffects("p1")).toEqual([]);
  expect(stage.errors).toEqual([]);
});

test("a child whose end fails needs a person itself, and does not keep its parent from ending", async () => {
  const stage = await childrenStage({
    performers: {
      release_workspace: async (_, { task }) => {
        if (task.part?.item === "a") throw new Error("The disk is gone.");
      },
    },
  });
  await stage.plan("p1", [{ id: "a" }, { id: "b", needs: ["a"] }], { settings: { agents: 1 } });
  await stage.finish("p1", "a");
  // The part is done; the slot that its workspace may still have is not given away.
  expect(await stage.states("p1")).toEqual(["a done 1", "b running 2"]);
  await stage.core.submit("p1", { kind: "move", to: "dropped", actor: human });
  await stage.rest();
  expect(await stage.store.getTask("p1")).toMatchObject({ isOpen: false });
  expect((await stage.childFor("p1", "a")).held?.reason).toContain("The disk is gone.");
});

test("a limit of the state stops the children, and continuing the held parent tries them again", async () => {
  const stage = await childrenStage({
    parent: parentWorkflow.replace("next: counted\n", "limits: { time: 1h }\n    next: counted\n"),
  });
  await stage.plan("p1", [{ id: "a" }, { id: "b", needs: ["a"] }]);
  await stage.rest(3_600_000);
  expect((await stage.store.getTask("p1"))?.task).toMatchObject({ status: "building", held: { word: "time" } });
  expect(await stage.states("p1")).toEqual(["a skipped 1", "b skipped"]);
  await stage.core.submit("p1", { kind: "continue", actor: human });
  await stage.rest();
  expect(await stage.states("p1")).toEqual(["a running 1 try 2", "b waiting try 2"]);
});

test("three parents share one workspace: the children of the oldest go first, and all end", async () => {
  const stage = await childrenStage({ poolSize: 1 });
  const parents = ["p1", "p2", "p3"];
  for (const id of parents) await stage.create(id);
  await stage.rest();
  const items = [{ id: "a" }, { id: "b" }, { id: "c", needs: ["a", "b"] }];
  const began: string[] = [];
  for (let round = 0; round < 60; round++) {
    const open = await stage.store.listTasks({ isOpen: true }, { limit: 100 });
    const holding = open.filter(({ task }) => task.workspace !== "");
    expect(holding.length).toBeLessThanOrEqual(1);
    const [at] = holding;
    if (at === undefined) break;
    const { id, part, parent } = at.task;
    began.push(part === undefined ? id : `${parent} ${part.item}`);
    if (part === undefined) await stage.answer(id, items);
    else await stage.finish(parent, part.item);
  }
  expect(await stage.statuses(...parents)).toEqual(["done", "done", "done"]);
  expect(began.filter((each) => each.startsWith("p1 "))).toEqual(["p1 a", "p1 b", "p1 c"]);
  expect(began.indexOf("p1 c")).toBeLessThan(began.indexOf("p2 a"));
  expect(await stage.store.listTasks({ isOpen: true }, { limit: 100 })).toEqual([]);
});

test("a child workflow that the engine could not end is refused before any child is made", async () => {
  const part = partWorkflow.replace("by: [engine, human]", "by: human");
  const stage = await childrenStage({ part });
  await stage.plan("p1", [{ id: "a" }]);
  expect(await stage.all("p1")).toEqual([]);
  const held = (await stage.store.getTask("p1"))?.task.held;
  expect(held).toMatchObject({ again: "effects", reason: expect.stringContaining("The engine cannot end a child in") });
});

test("a parent counts its parts, shows the least advanced one, and names those that need a person", async () => {
  const part = partWorkflow.replace("    outcomes: [{ on: failed, then: failed }]\n", "");
  const stage = await childrenStage({ part });
  await stage.plan("p1", [{ id: "a" }, { id: "b" }, { id: "c", needs: ["a", "b"] }]);
  await stage.finish("p1", "a");
  await stage.finish("p1", "b", "error");
  const parent = await stage.store.getTask("p1");
  const child = await stage.childFor("p1", "b");
  const waiting = await stage.childFor("p1", "c");
  if (parent === undefined) throw new Error("missing");
  const workflow = await stage.core.workflows.get(parent.task.workflowHash);
  expect(await childProgress(stage.core, parent.task, workflow)).toEqual({
    ...{ checkpoint: "working", waiting: 1, running: 1, done: 1, failed: 0, skipped: 0, needPerson: [child.id] },
    parts: [
      expect.objectContaining({ item: "a", state: "done", status: "done", why: "", needsPerson: false, earlier: [] }),
      expect.objectContaining({ item: "b", state: "running", id: child.id, needsPerson: true }),
      expect.objectContaining({ item: "c", state: "waiting", why: 'It needs "b", which is not done.' }),
    ],
  });
  expect(await explainChildren(stage.core, parent.task, workflow)).toEqual([
    expect.objectContaining({
      reason:
        'It waits for its 3 parts: 1 done, 1 running, 1 waiting. Its checkpoint is "working", where the least advanced part is.',
    }),
    { reason: `Its part "b" (${child.id}) needs a person.`, fix: `signalbox task explain ${child.id}` },
  ]);
  expect(await explainChildren(stage.core, waiting, await stage.core.workflows.get(waiting.workflowHash))).toEqual([
    expect.objectContaining({ reason: `It needs "b" (${child.id}), which is not done.` }),
  ]);
  // The parent itself needs nobody: the person is called once.
  expect(await stage.core.needs.of(parent)).toEqual([]);
});

test("a started part without a workspace counts as waiting, with the reason", async () => {
  const stage = await childrenStage({ poolSize: 1 });
  await stage.plan("p1", [{ id: "a" }, { id: "b" }]);
  const parent = await stage.store.getTask("p1");
  if (parent === undefined) throw new Error("missing");
  const workflow = await stage.core.workflows.get(parent.task.workflowHash);
  expect(await childProgress(stage.core, parent.task, workflow)).toMatchObject({
    ...{ running: 1, waiting: 1 },
    parts: [
      { item: "a", state: "running", why: "" },
      {
        item: "b",
        state: "waiting",
        why: expect.stringMatching(/^It waits for a workspace. The only slot of .+ is taken by/),
      },
    ],
  });
});

test.for(policies)(
  "three parents share one workspace with the policy %s, and a person cancels one of them: everything ends, and nothing is left",
  async (policy) => {
    // Each parent at every step: test/long/one-workspace.test.ts.
    for (const step of [0, 1, 2]) expect(await shareOneWorkspace(policy, "p1", step)).not.toBe("");
    expect(await shareOneWorkspace(policy, "p3", 6)).not.toBe("");
  },
);

test("a parent whose parts' workflow no longer loads calls a person, and continues by itself once it loads again", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }, { id: "b" }]);
  const file = join(stage.core.home, "workflows", "part.yml");
  writeFileSync(file, "version: 1\nstates: {}\n");
  await stage.finish("p1", "a", "error");
  const parent = await stage.store.getTask("p1");
  expect(parent?.task.held?.reason).toContain('looking after the parts failed: The workflow "part" has errors');
  expect(await stage.core.needs.of(parent ?? expect.fail())).toMatchObject([
    { reason: "effect", command: "signalbox task retry p1" },
  ]);
  await stage.rest(60_000);
  // The same error is logged once, however often it is met.
  expect(stage.errors).toHaveLength(1);
  writeFileSync(file, partWorkflow);
  await stage.rest(10_000);
  expect((await stage.store.getTask("p1"))?.task.held).toBe(undefined);
  expect(await stage.states("p1")).toEqual(["a running 1 try 2", "b running 2"]);
});

test("a parent is held for an error that may pass only after a minute of it", async () => {
  const memory = createMemoryStore();
  let isBusy = false;
  let tries = 0;
  const createTask: typeof memory.createTask = (...given) => {
    if (!isBusy) return memory.createTask(...given);
    tries++;
    throw new Fault("store.busy", "The store is busy.", { retry: "later" });
  };
  const stage = await childrenStage({ store: { ...memory, createTask } });
  const held = async () => (await stage.store.getTask("p1"))?.task.held?.reason;
  await stage.plan("p1", [{ id: "a" }]);
  isBusy = true;
  await stage.finish("p1", "a", "error");
  for (let number = 1; number <= 5; number++) {
    await expect.poll(() => tries).toBe(number);
    await stage.rest();
    expect(await held()).toBe(undefined);
    await stage.rest(10_000);
  }
  await expect.poll(held).toContain("The store is busy.");
  isBusy = false;
  await stage.rest(10_000);
  await expect.poll(held).toBe(undefined);
  expect(await stage.states("p1")).toEqual(["a running 1 try 2"]);
});

test("no other task takes the slot of a part while a failed look at its parent is retried, or after a start", async () => {
  const memory = createMemoryStore();
  let isBusy = false;
  const seen: boolean[] = [];
  const createTask: typeof memory.createTask = (...given) => {
    if (!isBusy) return memory.createTask(...given);
    seen.push(core.children.isBusy("coffee"));
    throw new Fault("store.busy", "The store is busy.", { retry: "later" });
  };
  const stage = await childrenStage({ store: { ...memory, createTask } });
  let { core } = stage;
  await stage.plan("p1", [{ id: "a" }]);
  isBusy = true;
  await stage.finish("p1", "a", "error");
  await stage.clock.pass(10_000);
  await expect.poll(() => seen).toEqual([true, true]);
  await core.close();
  core = stage.start();
  await core.recover();
  await expect.poll(() => seen.at(2)).toBe(true);
});

test("a part that the engine cannot move to an end is stopped and held with its cancelled parent, until a person ends it", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }]);
  const { id, workflowHash } = await stage.childFor("p1", "a");
  const text = partWorkflow.replace("by: [engine, human]", "by: human");
  const { workflow } = loadWorkflow(text, "part.yml");
  if (workflow === undefined) throw new Error("The workflow has errors.");
  await stage.core.workflows.keep(workflow, text);
  const stored = (await stage.store.getTask(id)) ?? expect.fail();
  const { task, revision } = stored;
  expect(workflow.hash).not.toBe(workflowHash);
  await stage.store.saveDecision({
    task: { ...task, workflowHash: workflow.hash },
    ...{ revision, isOpen: true, events: [], effects: [], at: stage.clock.now() },
  });
  await stage.core.submit("p1", { kind: "move", to: "dropped", actor: human }, undefined, "brake");
  await stage.rest();
  const held = (await stage.store.getTask(id))?.task;
  expect(held).toMatchObject({ status: "working", runs: {} });
  expect(held?.held?.reason).toContain(`End it yourself: signalbox task cancel ${id}`);
  const parent = await stage.store.getTask("p1");
  expect(parent).toMatchObject({ isOpen: true, task: { status: "dropped" } });
  expect(parent?.task.held?.reason).toContain(`The engine cannot end the part ${id}`);
  await stage.core.submit(id, { kind: "move", to: "dropped", actor: human });
  await stage.rest(10_000);
  expect(await stage.store.getTask("p1")).toMatchObject({ isOpen: false });
});

test("a part is not migrated to a workflow in which the engine could not end it", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }]);
  const { id } = await stage.childFor("p1", "a");
  const file = join(stage.core.home, "workflows", "part.yml");
  writeFileSync(file, partWorkflow.replace("by: [engine, human]", "by: human"));
  const before = await stage.store.getTask(id);
  const asked = { params: { task: id }, query: {}, body: { apply: true }, caller: { kind: "human" } } as const;
  await expect(migrateTask(stage.core)({ ...asked, folder: "", lastEvent: "" })).rejects.toMatchObject({
    ...{ code: "workflow.invalid", message: expect.stringContaining("The engine cannot end a child in") },
    hint: expect.stringContaining("by: [engine, human]"),
  });
  expect(await stage.store.getTask(id)).toEqual(before);
});

test("a workflow for parts is refused for a task of its own, and a task that continues a part gets the project's workflow", async () => {
  const stage = await childrenStage();
  const body = { project: "coffee", summary: "Pour", branch: "pour" };
  await expect(makeTask(stage.core, { ...body, workflow: "team-subtask" })).rejects.toMatchObject({
    message: expect.stringContaining("only for the parts of another task's plan"),
    hint: expect.stringContaining("--workflow default"),
  });
  await stage.plan("p1", [{ id: "a" }]);
  await stage.finish("p1", "a");
  const { id } = await stage.childFor("p1", "a");
  const { task } = await makeTask(stage.core, { ...body, from: id, base: "main" });
  expect(task).toMatchObject({ workflow: "default", parent: "" });
});

test("a parent that plans again counts the parts of its last plan only, and does not show those of an earlier plan as tries", async () => {
  const parent = parentWorkflow.replace(
    "[{ when: children_done == 0, then: failed }]",
    "[{ when: [children_done == 0, visits < 3], then: planning }]",
  );
  const stage = await childrenStage({ parent });
  await stage.plan("p1", [{ id: "a" }], { settings: { policy: "continue" } });
  await stage.finish("p1", "a", "error");
  await stage.answer("p1", [{ id: "a" }]);
  expect(await stage.all("p1")).toHaveLength(2);
  const { task } = (await stage.store.getTask("p1")) ?? expect.fail();
  const workflow = await stage.core.workflows.get(task.workflowHash);
  expect((await childProgress(stage.core, task, workflow))?.parts).toMatchObject([{ item: "a", try: 1, earlier: [] }]);
  await stage.finish("p1", "a");
  expect(await stage.statuses("p1")).toEqual(["done"]);
});

/** A store whose next list of the parts of `p1` that `isMeant` accepts is given out late. */
function lateStore() {
  const memory = createMemoryStore();
  let isMeant: ((found: readonly StoredTask[]) => boolean) | undefined;
  let release: (() => void) | undefined;
  const listTasks: typeof memory.listTasks = async (...given) => {
    const found = await memory.listTasks(...given);
    if (given[0].parent !== "p1" || isMeant?.(found) !== true) return found;
    isMeant = undefined;
    await new Promise<void>((resolve) => {
      release = resolve;
    });
    return found;
  };
  return {
    ...{ memory, store: { ...memory, listTasks }, release: () => release?.() },
    async during(meant: typeof isMeant, begin: () => Promise<unknown>) {
      isMeant = meant;
      await begin();
      await expect.poll(() => release).toBeDefined();
    },
  };
}

test("a part that ends while its parent is being looked at is noticed", async () => {
  const { memory, store, during, release } = lateStore();
  const stage = await childrenStage({ store, seen: memory });
  await stage.plan("p1", [{ id: "a" }, { id: "b" }]);
  const [a, b] = [await stage.childFor("p1", "a"), await stage.childFor("p1", "b")];
  const end = (child: typeof a) =>
    stage.core.submit(child.id, { kind: "ended", run: child.runs.builder?.key ?? "", word: "ok" });
  await during(
    () => true,
    () => end(a),
  );
  await end(b);
  await expect.poll(async () => (await memory.getTask(b.id))?.isOpen).toBe(false);
  release();
  await stage.rest();
  expect(await stage.states("p1")).toEqual(["a done 1", "b done 2"]);
  expect(await stage.statuses("p1")).toEqual(["done"]);
});

test("a part that a person cancels just before its parent stops it is no error", async () => {
  const { memory, store, during, release } = lateStore();
  const stage = await childrenStage({ store, seen: memory });
  await stage.plan("p1", [{ id: "a" }, { id: "b" }], { settings: { policy: "stop" } });
  const [a, b] = [await stage.childFor("p1", "a"), await stage.childFor("p1", "b")];
  await during(
    (found) => found.some(({ task, isOpen }) => task.id === a.id && !isOpen),
    () =>
      stage.core.submit(a.id, { kind: "ended", run: a.runs.builder?.key ?? "", word: "error", reason: "It broke." }),
  );
  await stage.core.submit(b.id, { kind: "move", to: "dropped", actor: human });
  await expect.poll(async () => (await memory.getTask(b.id))?.isOpen).toBe(false);
  release();
  await stage.rest();
  expect(await stage.states("p1")).toEqual(["a failed 1", "b skipped 2"]);
  expect((await memory.getTask("p1"))?.task.held?.word).toBe("error");
  expect(stage.errors).toEqual([]);
});

test("of one try there is only one child, however often it is made", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }]);
  const { task } = (await stage.store.getTask("p1")) ?? expect.fail();
  const item = { id: "a", title: "Do a", description: "", needs: [], files: [], size: "M" } as const;
  await makeChildren(stage.core, task, task.entry, "part", [{ item, try: 1 }]);
  expect(await stage.all("p1")).toHaveLength(1);
});

test("a part whose parent is held waits for its parent, not for a slot", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }, { id: "b" }], { settings: { agents: 1 } });
  const why = async () => {
    const { task } = (await stage.store.getTask("p1")) ?? expect.fail();
    const workflow = await stage.core.workflows.get(task.workflowHash);
    return (await childProgress(stage.core, task, workflow))?.parts.find(({ item }) => item === "b")?.why;
  };
  expect(await why()).toBe("It waits for a free slot.");
  writeFileSync(join(stage.core.home, "workflows", "part.yml"), "version: 1\nstates: {}\n");
  await stage.finish("p1", "a", "error");
  expect(await why()).toBe('It waits for its parent, which is in "building".');
});

test("a part that a person moved out of its first state gets a slot of its own", async () => {
  const part = partWorkflow.replace("transitions: [", "transitions: [{ from: waiting, to: working, by: human }, ");
  const stage = await childrenStage({ part });
  await stage.plan("p1", [{ id: "a" }, { id: "b" }], { settings: { agents: 1 } });
  const { id } = await stage.childFor("p1", "b");
  await stage.core.submit(id, { kind: "move", to: "working", actor: human });
  await stage.rest();
  expect(await stage.states("p1")).toEqual(["a running 1", "b running 2"]);
});

test("a daemon stops although a parent waits for its parts to end", async () => {
  const stage = await childrenStage({
    performers: {
      release_workspace: async (_, { task }) => {
        if (task.part !== undefined) throw new Fault("workspace.busy", "It is busy.", { retry: "later" });
      },
    },
  });
  await stage.plan("p1", [{ id: "a" }]);
  await stage.core.submit("p1", { kind: "move", to: "dropped", actor: human }, undefined, "brake");
  await stage.rest();
  expect((await stage.store.openEffects("p1")).map(({ effect }) => effect.action)).toContain("stop_children");
  await stage.core.close();
});

test("a part gets its parent's settings only where its own workflow allows their values", async () => {
  const part = partWorkflow.replace("words: { default: long }", "words: { default: long, one_of: [long, longer] }");
  const stage = await childrenStage({ part });
  await stage.plan("p1", [{ id: "a" }], { settings: { words: "many" } });
  await stage.plan("p2", [{ id: "a" }], { settings: { words: "longer" } });
  expect((await stage.childFor("p1", "a")).settings).toEqual({});
  expect((await stage.childFor("p2", "a")).settings).toEqual({ words: "longer" });
});

test("the time limit of a part's first state counts from its creation", async () => {
  const part = partWorkflow.replace("waits_for: slot, do:", "waits_for: slot, limits: { time: 1h }, do:");
  const stage = await childrenStage({ part });
  await stage.plan("p1", [{ id: "a" }, { id: "b", needs: ["a"] }]);
  await stage.rest(3_600_000);
  expect((await stage.childFor("p1", "b")).held?.word).toBe("time");
});

test("a part whose workflow is lost does not stop its siblings", async () => {
  const stage = await childrenStage();
  await stage.plan("p1", [{ id: "a" }, { id: "b" }, { id: "c", needs: ["b"] }]);
  const { id } = await stage.childFor("p1", "a");
  const stored = (await stage.core.store.getTask(id)) ?? expect.fail();
  await stage.core.store.saveDecision(sampleDecision(stored, { workflowHash: "lost" }));
  await stage.finish("p1", "b");
  expect(await stage.states("p1")).toEqual(["a running 2", "b done 1", "c running 1"]);
});
