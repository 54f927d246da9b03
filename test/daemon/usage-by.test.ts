import { expect, test } from "vitest";
import { listUsage } from "../../src/daemon/requests/usage.ts";
import { sampleTask } from "../contracts/samples.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { agentStage } from "./agent-stage.ts";

const once = `
version: 1
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work } }
prompts: { work: Brew }
states:
  brewing: { agent: { role: worker }, next: tasting }
  tasting: { waits_for: human, next: done }
  done: { terminal: true }
`;

test("usage is grouped by two keys, and the budgets of open tasks say what is left", async () => {
  const { create, until, newest, store } = await agentStage(
    once,
    () => [{ print: "1.5\n" }, { exit: 0 }],
    createMemoryStore(),
  );
  await create("t1", { budget: { cost: 6 } });
  await create("t2");
  await until(async () => (await store.getTask("t1"))?.task.status === "tasting");
  await until(async () => (await store.getTask("t2"))?.task.status === "tasting");
  const ask = (query: object) =>
    listUsage(newest())({ params: {}, query, body: undefined, caller: { kind: "human" }, folder: "", lastEvent: "" });
  const { rows, total, budgets } = await ask({ by: "task,role", budgets: "true" });
  const byTask = rows.toSorted((a, b) => a.key.localeCompare(b.key));
  expect(byTask.map(({ keys, cost }) => [keys, cost])).toEqual([
    [{ task: "t1", role: "worker" }, 1.5],
    [{ task: "t2", role: "worker" }, 1.5],
  ]);
  expect(total).toMatchObject({ runs: 2, cost: 3 });
  expect(budgets).toMatchObject([{ task: "t1", kind: "cost", limit: 6, spent: 1.5, left: 4.5 }]);
  expect((await ask({ by: "harness" })).rows).toMatchObject([{ key: "meter", keys: { harness: "meter" }, cost: 3 }]);
  expect((await ask({})).budgets).toBeUndefined();
  // More budgets than are listed: those with the least left come first, also of the oldest task.
  for (let i = 0; i < 200; i++) await store.createTask("coffee", sampleTask(`many-${i}`, { budget: { cost: 6 } }));
  const { budgets: least = [] } = await ask({ budgets: "true" });
  expect([least.length, least[0]?.task]).toEqual([200, "t1"]);
  for (const by of ["task,task", "task,role,day", "colour", "", "constructor"])
    await expect(ask({ by })).rejects.toMatchObject({ code: "request.invalid" });
});
