import { expect, test } from "vitest";
import { coreStage } from "../../../test/daemon/core-stage.ts";
import type { Request } from "../../engine/request.ts";
import type { Run, Usage } from "../../ports/records.ts";
import type { Store } from "../../ports/store.ts";
import { checkCosts, createUsageBook, type DayBudgets } from "./usage.ts";

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

async function open(budgets: Partial<DayBudgets> = {}) {
  const kept = new Map<string, Usage>();
  const usage: Store["usage"] = {
    put: async (record) => void kept.set(record.id, record),
    get: async (id) => kept.get(id),
    list: async () => [...kept.values()],
    remove: async (id) => void kept.delete(id),
  };
  const store = { usage };
  const book = createUsageBook(store, () => ({ projectDay: 0, day: 0, ...budgets }));
  await book.open();
  return { book, store };
}

test("the usage of a run is added up, and survives a restart", async () => {
  const { book, store } = await open();
  await book.add(run("a"), [{ ...used, cost: 1 }], start, noon + 1_000);
  await book.add(run("a"), [{ ...used, cost: 0.5 }], start, noon + 3_000);
  expect(book.of("a/worker#1")).toMatchObject({ inputTokens: 200, outputTokens: 20, cost: 1.5, duration: 3_000 });
  const again = createUsageBook(store, () => ({ projectDay: 0, day: 0 }));
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

test.for([1e308, 1_000_001, -1, Number.NaN])(
  "a reported cost of %d is unknown use, and is noted once",
  async (cost) => {
    const kept: Usage[] = [];
    const usage = {
      put: async (each: Usage) => void kept.push(each),
      list: async () => kept,
    } as never as Store["usage"];
    const noted: string[] = [];
    const days = () => ({ projectDay: 0, day: 0 });
    const book = createUsageBook({ usage }, days, (id) => noted.push(id));
    await book.open();
    await book.add(run("a"), [{ ...used, cost: 1 }], start, noon);
    for (const each of [cost, 2]) await book.add(run("a"), [{ ...used, cost: each }], start, noon);
    expect(book.of("a/worker#1")).toMatchObject({ cost: undefined, inputTokens: 300 });
    expect(book.total(() => true)).toMatchObject({ cost: 0, unknown: 1 });
    expect(noted).toEqual(["a/worker#1"]);
    const again = createUsageBook({ usage }, days);
    await again.open();
    expect(again.of("a/worker#1")?.cost).toBeUndefined();
  },
);

test("a daily budget counts the cost of today, for the project or for all", async () => {
  const { book } = await open({ projectDay: 5, day: 8 });
  await book.add(run("old", noon - day), [{ ...used, cost: 100 }], start, noon - day);
  await book.add(run("a"), [{ ...used, cost: 4 }], start, noon);
  await book.add(run("b", noon, "tea"), [{ ...used, cost: 3.9 }], start, noon);
  expect(() => book.check({ id: "x", project: "coffee" }, noon)).not.toThrow();
  await book.add(run("b", noon, "tea"), [{ ...used, cost: 0.2 }], start, noon);
  expect(() => book.check({ id: "x", project: "coffee" }, noon)).toThrow("All projects together today");
});

test("a daily budget that is used up to the cent is exhausted, and the hint names commands that work", async () => {
  const { book } = await open({ projectDay: 2 });
  await book.add(run("a"), [{ ...used, cost: 1.99 }], start, noon);
  expect(() => book.check({ id: "a", project: "coffee" }, noon)).not.toThrow();
  await book.add(run("b"), [{ ...used, cost: 0.01 }], start, noon);
  expect(() => book.check({ id: "a", project: "coffee" }, noon)).toThrow("$2.00 of $2.00");
  const hint = "Raise the limit: signalbox config set budget.project_day 3\nThen, or tomorrow: signalbox task retry a";
  expect(() => book.check({ id: "a", project: "coffee" }, noon)).toThrow(expect.objectContaining({ hint }));
  expect(book.spentToday(["coffee", "tea"], noon).map(({ text }) => text)).toEqual([
    "The project coffee today cost $2.00 of $2.00 that are allowed.",
  ]);
  expect(book.spentToday(["coffee", "tea"], noon + day)).toEqual([]);
});

const limited = `
version: 1
limits: { cost: 1 }
states:
  brewing: { agent: { role: worker, mode: turn, prompt: work }, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human }]
prompts: { work: Work }
`;

test("a task's limit of cost that could not be reported is reported at the next check, and once", async () => {
  const { store, create, core } = await coreStage(limited);
  await create("t1");
  const { book } = await open();
  await book.add(run("t1"), [{ ...used, cost: 2 }], start, noon);
  const requests: Request[] = [];
  let isBusy = true;
  const check = checkCosts({
    ...{ store, book, end: async () => {}, workflowOf: (task) => core.workflows.get(task.workflowHash) },
    submit: async (id, request, ...rest) => {
      if (isBusy) throw new Error("The store is busy.");
      requests.push(request);
      return core.submit(id, request, ...rest);
    },
  });
  const watch = { run: run("t1"), started: { entry: 0, at: noon } } as Parameters<typeof check>[0];
  await expect(check(watch)).rejects.toThrow("The store is busy.");
  isBusy = false;
  await check(watch);
  await check(watch);
  expect(requests).toEqual([{ kind: "limit", word: "cost" }]);
});

test("what a deleted part has used does not count against the task's own limit of cost", async () => {
  const { store, create, core } = await coreStage(limited);
  await create("t1");
  const { book } = await open();
  await book.add(run("t1"), [{ ...used, cost: 0.5 }], start, noon);
  await book.add(run("part"), [{ ...used, cost: 2 }], start, noon);
  await book.bequeath("part", "t1");
  const requests: Request[] = [];
  const check = checkCosts({
    ...{ store, book, end: async () => {}, workflowOf: (task) => core.workflows.get(task.workflowHash) },
    submit: async (id, request) => {
      requests.push(request);
      return core.submit(id, request);
    },
  });
  await check({ run: run("t1"), started: { entry: 0, at: noon } } as Parameters<typeof check>[0]);
  expect(requests).toEqual([]);
});
