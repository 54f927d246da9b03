import { expect, test } from "vitest";
import type { Run, Usage } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { type Budgets, createUsageBook } from "./usage.ts";

const noon = new Date("2026-11-15T12:00:00").getTime();
const day = 24 * 3_600_000;
const start = { offset: 0, before: "" };
const used = { model: "m", inputTokens: 100, outputTokens: 10, cachedTokens: 5 };

function run(task: string, at = noon, project = "coffee"): Run {
  return {
    ...{ id: `${task}/worker#1`, project, task, at, key: "worker#1", role: "worker", harness: "claude", model: "" },
    ...{ session: "", folder: "", pid: 1, endedAt: undefined, word: "" },
  };
}

async function open(budgets: Partial<Budgets> = {}) {
  const kept = new Map<string, Usage>();
  const usage: Store["usage"] = {
    put: async (record) => void kept.set(record.id, record),
    get: async (id) => kept.get(id),
    list: async () => [...kept.values()],
    remove: async (id) => void kept.delete(id),
  };
  const store = { usage };
  const book = createUsageBook(store, () => ({ task: 0, taskTokens: 0, projectDay: 0, day: 0, ...budgets }));
  await book.open();
  return { book, store };
}

test("the usage of a run is added up, and survives a restart", async () => {
  const { book, store } = await open();
  await book.add(run("a"), [{ ...used, cost: 1 }], start, noon + 1_000);
  await book.add(run("a"), [{ ...used, cost: 0.5 }], start, noon + 3_000);
  expect(book.of("a/worker#1")).toMatchObject({ inputTokens: 200, outputTokens: 20, cost: 1.5, duration: 3_000 });
  const again = createUsageBook(store, () => ({ task: 0, taskTokens: 0, projectDay: 0, day: 0 }));
  await again.open();
  expect(again.total(() => true)).toMatchObject({ runs: 1, cost: 1.5, unknown: 0 });
});

test("an unreported cost is unknown, not zero", async () => {
  const { book } = await open();
  await book.add(run("a"), [{ ...used, cost: undefined }], start, noon);
  expect(book.of("a/worker#1")?.cost).toBeUndefined();
  expect(book.total(() => true)).toMatchObject({ cost: 0, unknown: 1 });
});

test("no amount that an agent reports makes a sum that JSON cannot hold", async () => {
  const { book } = await open();
  for (const task of ["a", "a", "b"])
    await book.add(run(task), [{ ...used, inputTokens: 1e308, cost: 1e308 }], start, noon);
  const { cost, inputTokens } = book.total(() => true);
  expect(JSON.parse(JSON.stringify({ cost, inputTokens }))).toEqual({ cost, inputTokens });
});

test("a task's budget covers its whole family", async () => {
  const { book } = await open({ task: 2 });
  await book.add(run("parent"), [{ ...used, cost: 1.5 }], start, noon);
  await book.add(run("child"), [{ ...used, cost: 0.6 }], start, noon);
  expect(() => book.check("coffee", new Set(["child"]), noon)).not.toThrow();
  expect(() => book.check("coffee", new Set(["parent", "child"]), noon)).toThrow("$2.10 of $2.00");
});

test("a budget that is used up to the cent is exhausted", async () => {
  const { book } = await open({ task: 2 });
  await book.add(run("a"), [{ ...used, cost: 1.99 }], start, noon);
  expect(() => book.check("coffee", new Set(["a"]), noon)).not.toThrow();
  await book.add(run("b"), [{ ...used, cost: 2 }], start, noon);
  expect(() => book.check("coffee", new Set(["b"]), noon)).toThrow("$2.00 of $2.00");
});

test("tokens are a budget too, for harnesses that report no cost", async () => {
  const { book } = await open({ taskTokens: 110 });
  await book.add(run("a"), [{ ...used, cost: undefined }], start, noon);
  expect(() => book.check("coffee", new Set(["a"]), noon)).toThrow("110 of 110 tokens");
});

test("a daily budget counts the cost of today, for the project or for all", async () => {
  const { book } = await open({ projectDay: 5, day: 8 });
  await book.add(run("old", noon - day), [{ ...used, cost: 100 }], start, noon - day);
  await book.add(run("a"), [{ ...used, cost: 4 }], start, noon);
  await book.add(run("b", noon, "tea"), [{ ...used, cost: 3.9 }], start, noon);
  expect(() => book.check("coffee", new Set(["x"]), noon)).not.toThrow();
  await book.add(run("b", noon, "tea"), [{ ...used, cost: 0.2 }], start, noon);
  expect(() => book.check("coffee", new Set(["x"]), noon)).toThrow("All projects together today");
});
