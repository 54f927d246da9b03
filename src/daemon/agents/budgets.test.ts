import { expect, test } from "vitest";
import { sampleDecision, sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import type { Budget } from "../../engine/budget.ts";
import type { Task } from "../../engine/task.ts";
import type { Run, Usage } from "../../ports/records.ts";
import type { Store, StoredTask } from "../../ports/store.ts";
import { createTreeBudgets } from "./budgets.ts";
import { createUsageBook } from "./usage.ts";

const noConfig = { budgetTask: 0, budgetTaskTokens: 0, budgetUnknownRun: 0, budgetUnknownRunTokens: 0 };

/** Budgets over a store, as a daemon has them after its start. */
async function open(store: Store, config: Partial<typeof noConfig> = {}, seated: readonly string[] = []) {
  const book = createUsageBook(store, () => ({ projectDay: 0, day: 0 }));
  await book.open();
  const dispatch = { isSeated: (run: string) => seated.includes(run) };
  const budgets = createTreeBudgets({ store, book, dispatch, config: () => ({ ...noConfig, ...config }) });
  const taskOf = async (id: string) => (await store.getTask(id))?.task as Task;
  return {
    ...budgets,
    /** Starts a run as `start-run` does: its record is stored with what is reserved. */
    start: async (task: string, key: string, limit?: number) =>
      budgets.reserve(await taskOf(task), newRun(task, key, limit), (reserves) =>
        store.runs.put(record(task, key, { started: { reserves } as NonNullable<Run["started"]> })),
      ),
    why: async (task: string, key: string, limit?: number) => budgets.blockOf(task, newRun(task, key, limit)),
    account: async (task: string) => budgets.accountsOf(await taskOf(task)),
  };
}

/** A task, its part, and the part of that part. */
async function tree(budgets: Readonly<Record<string, Budget>> = {}) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  for (const [id, parent] of [
    ["top", ""],
    ["part", "top"],
    ["leaf", "part"],
    ["other", ""],
  ] as const)
    await store.createTask("coffee", sampleTask(id, { parent, budget: budgets[id] }));
  return store;
}

function newRun(task: string, key: string, limit?: number) {
  const [role = ""] = key.split("#");
  return { id: `${task}/${key}`, key, role, harness: "claude", limit };
}

function record(task: string, key: string, change: Partial<Run> = {}): Run {
  const [role = ""] = key.split("#");
  return {
    ...{ id: `${task}/${key}`, project: "coffee", task, at: 1, key, role, harness: "claude", model: "" },
    ...{ session: "", folder: "", pid: 1, endedAt: undefined, word: "", started: {} as NonNullable<Run["started"]> },
    ...change,
  };
}

/** A run that has ended; without `used` it has reported nothing. */
async function ran(store: Store, task: string, key: string, used?: Partial<Usage>) {
  // A program that ends at once never had a known pid.
  await store.runs.put(record(task, key, { endedAt: 2, pid: 0 }));
  const { id, project, at, role, harness, model } = record(task, key);
  const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: undefined };
  if (used !== undefined)
    await store.usage.put({ id, project, task, at, role, harness, model, run: key, ...nothing, ...used });
}

test("a budget covers children of children, and only its own tree", async () => {
  const store = await tree({ top: { cost: 5 } });
  await ran(store, "leaf", "worker#1", { cost: 3 });
  await ran(store, "part", "worker#1", { cost: 1.5 });
  const { why } = await open(store);
  const block = await why("leaf", "worker#2", 1);
  expect(block).toMatchObject({ owner: "top", needsPerson: true });
  expect(block?.text).toBe(
    "The budget of coffee#1: $4.50 of $5.00 spent, $0.00 reserved, $0.50 left. worker#2 of coffee#3 may use $1.00 (its own limit).",
  );
  expect(block?.fix).toBe("Raise the budget, and it continues: signalbox task update top --budget 6");
  expect(await why("other", "worker#1", 100)).toBeUndefined();
});

test("the smaller budget of a child holds too", async () => {
  const { why } = await open(await tree({ top: { cost: 50 }, part: { cost: 1 } }));
  expect(await why("leaf", "worker#1", 2)).toMatchObject({ owner: "part" });
  expect(await why("top", "worker#1", 2)).toBeUndefined();
});

test("the budget of a task that has ended holds nothing up, but that of its parent does", async () => {
  const store = await tree({ top: { cost: 5 }, part: { cost: 1 } });
  const part = (await store.getTask("part")) as StoredTask;
  await store.saveDecision(sampleDecision(part, { phase: "over" }, { isOpen: false }));
  const { why } = await open(store);
  expect(await why("leaf", "worker#1", 2)).toBeUndefined();
  expect(await why("leaf", "worker#1", 6)).toMatchObject({ owner: "top" });
});

test("one estimate is reserved in every budget: that of the smallest tree with earlier runs", async () => {
  const store = await tree({ top: { cost: 50 }, part: { cost: 3 } });
  await ran(store, "part", "worker#1", { cost: 1 });
  await ran(store, "top", "worker#1", { cost: 10 });
  const { start, account } = await open(store);
  expect(await start("leaf", "worker#1")).toBe(true);
  expect(await account("leaf")).toMatchObject([
    { limit: 3, spent: 1, reserved: 1 },
    { limit: 50, spent: 11, reserved: 1 },
  ]);
});

test("a budget covers its tree at any depth", async () => {
  const store = await tree({ top: { cost: 1 } });
  let parent = "leaf";
  for (let depth = 0; depth < 30; depth++) {
    await store.createTask("coffee", sampleTask(`d${depth}`, { parent }));
    parent = `d${depth}`;
  }
  expect(await (await open(store)).why(parent, "worker#1", 2)).toMatchObject({ owner: "top" });
});

test("a cost that cannot be true blocks no other task, and the advice is a budget that is accepted", async () => {
  const store = await tree({ top: { cost: 5 } });
  await ran(store, "other", "worker#1", { cost: Number.MAX_SAFE_INTEGER });
  const { why } = await open(store, { budgetUnknownRun: 1 });
  expect(await why("top", "worker#1")).toBeUndefined();
  expect((await why("top", "worker#1", 1e9))?.fix).toContain("--budget 1000000");
});

test("two runs that start side by side cannot pass the budget together", async () => {
  const store = await tree({ top: { cost: 3 } });
  const { start } = await open(store);
  const started = await Promise.all([
    start("part", "worker#1", 2),
    start("leaf", "worker#1", 2),
    start("top", "w#1", 2),
  ]);
  expect(started.filter(Boolean)).toHaveLength(1);
  expect(await store.runs.list({})).toHaveLength(1);
});

test("what is reserved is known after a crash, and the run itself can be started again", async () => {
  const store = await tree({ top: { cost: 3 } });
  await (await open(store)).start("part", "worker#1", 2);
  const { account, why, start } = await open(store);
  expect(await account("leaf")).toMatchObject([{ spent: 0, reserved: 2, left: 1, limit: 3 }]);
  expect(await why("leaf", "worker#1", 2)).toBeDefined();
  expect(await start("part", "worker#1", 2)).toBe(true);
});

test("what an earlier attempt to start the same run has used does not keep it from being started again", async () => {
  const store = await tree({ top: { cost: 3 } });
  await (await open(store)).start("part", "worker#1", 2);
  await ran(store, "part", "worker#1", { cost: 1.5 });
  expect(await (await open(store)).why("part", "worker#1", 2)).toBeUndefined();
});

test("a run that ended without a word counts as what was reserved, also if the daemon died before it noted the usage", async () => {
  const store = await tree({ top: { cost: 3 } });
  await (await open(store)).start("part", "worker#1", 2);
  await store.runs.put({ ...((await store.runs.get("part/worker#1")) as Run), endedAt: 5 });
  const { account } = await open(store);
  expect(await account("top")).toMatchObject([{ spent: 2, reserved: 0, left: 1 }]);
});

test("a run waits without a person while runs at work may leave enough", async () => {
  const store = await tree({ top: { cost: 3 } });
  await (await open(store)).start("part", "worker#1", 2);
  expect(await (await open(store, {}, ["part/worker#1"])).why("leaf", "worker#1", 2)).toMatchObject({
    needsPerson: false,
    text: expect.stringContaining("It starts when runs that are at work have ended"),
  });
  expect(await (await open(store)).why("leaf", "worker#1", 2)).toMatchObject({ needsPerson: true });
});

test("without a limit, the mean of the role is reserved, in the tree or elsewhere, before that of the tree", async () => {
  const store = await tree({ top: { cost: 3 } });
  await ran(store, "other", "worker#1", { cost: 0.5 });
  await ran(store, "other", "reviewer#1", { cost: 9 });
  const { start, account } = await open(store);
  await start("part", "worker#1");
  expect(await account("top")).toMatchObject([{ reserved: 0.5 }]);
  await ran(store, "top", "architect#1", { cost: 1 });
  const again = await open(store);
  await again.start("leaf", "worker#1");
  expect(await again.account("top")).toMatchObject([{ spent: 1, reserved: 1, left: 1 }]);
  await ran(store, "top", "worker#2", { cost: 0.2 });
  const third = await open(store);
  await third.start("leaf", "worker#3");
  expect(await third.account("top")).toMatchObject([{ spent: 1.2, reserved: expect.closeTo(1.2) }]);
});

test("a run that nothing lets estimate is not started, and the block names the key and the command", async () => {
  const store = await tree({ top: { cost: 3 } });
  const { start, why } = await open(store);
  expect(await start("top", "worker#1")).toBe(false);
  const block = await why("top", "worker#1");
  expect(block?.text).toContain("no earlier run shows what it may use, and budget.unknown_run is not set");
  expect(block?.fix).toContain("signalbox config set budget.unknown_run 1\n");
  expect(await (await open(store, { budgetUnknownRun: 1 })).start("top", "worker#1")).toBe(true);
});

test("an earlier run of unknown cost is not free: it counts as the configured value, or nothing starts", async () => {
  const store = await tree({ top: { cost: 3 } });
  await ran(store, "part", "worker#1", { inputTokens: 5 });
  expect((await (await open(store)).why("leaf", "worker#1", 1))?.text).toContain(
    "It is not known what an earlier run used",
  );
  expect(await (await open(store, { budgetUnknownRun: 2.5 })).why("leaf", "worker#1", 1)).toMatchObject({
    text: expect.stringContaining("$2.50 of $3.00 spent"),
  });
});

test("tokens are a budget of their own, and a limit in dollars does not estimate them", async () => {
  const store = await tree({ top: { tokens: 1_000 } });
  await ran(store, "part", "worker#1", { inputTokens: 500, outputTokens: 100 });
  const block = await (await open(store)).why("leaf", "worker#1", 0.01);
  expect(block).toMatchObject({ fix: expect.stringContaining("task update top --budget 2k") });
  const stored = (await store.getTask("top")) as StoredTask;
  await store.saveDecision(sampleDecision(stored, { budget: { tokens: 2_000 } }));
  expect(await (await open(store)).why("leaf", "worker#1", 0.01)).toBeUndefined();
});

test("the configured budget is that of the topmost task, unless that has its own", async () => {
  const store = await tree({ other: { cost: 9 } });
  const { account } = await open(store, { budgetTask: 2, budgetTaskTokens: 500 });
  expect((await account("leaf")).map(({ owner, kind, limit }) => [owner.id, kind, limit])).toEqual([
    ["top", "cost", 2],
    ["top", "tokens", 500],
  ]);
  expect(await account("other")).toMatchObject([{ kind: "cost", limit: 9 }]);
});

test("what the tasks of a tree have used stays spent when they are deleted, also after a restart", async () => {
  const store = await tree({ top: { cost: 5 } });
  await ran(store, "leaf", "worker#1", { cost: 3 });
  await ran(store, "part", "worker#1", { cost: 1.5 });
  const book = createUsageBook(store, () => ({ projectDay: 0, day: 0 }));
  await book.open();
  await book.bequeath("leaf", "part");
  // A daemon that dies before the deletion counts nothing twice.
  expect(await (await open(store)).account("top")).toMatchObject([{ spent: 4.5, left: 0.5 }]);
  await store.deleteTask("leaf");
  await book.bequeath("part", "top");
  await store.deleteTask("part");
  expect(await (await open(store)).account("top")).toMatchObject([{ spent: 4.5, left: 0.5 }]);
});
