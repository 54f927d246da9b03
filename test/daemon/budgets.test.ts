import { expect, test } from "vitest";
import { status } from "../../src/daemon/requests/daemon.ts";
import { deleteTask } from "../../src/daemon/requests/edit-task.ts";
import type { Budget } from "../../src/engine/budget.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { agentStage } from "./agent-stage.ts";

const twice = `
version: 1
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work, limits: { cost: 2, attempts: 1 } } }
prompts: { work: Brew }
states:
  brewing: { agent: { role: worker }, next: tasting }
  tasting: { agent: { role: worker }, next: done }
  done: { terminal: true }
`;

async function stage(store = createMemoryStore(), values: PartialConfig = {}) {
  const set = await agentStage(twice, () => [{ print: "1.5\n" }, { exit: 0 }], store, values);
  const edit = (task: string, budget: Budget) =>
    set.newest().submit(task, { kind: "edit", actor: { role: "human" }, set: { budget } });
  const needsOf = async (task: string) => {
    const stored = await store.getTask(task);
    return stored === undefined ? [] : set.newest().needs.of(stored);
  };
  return { ...set, edit, needsOf };
}

test("a run that would pass the budget waits, a person is called once, and raising the budget lets it start", async () => {
  const { create, until, isIn, edit, needsOf, processes, clock, store } = await stage();
  await create("t1", { budget: { cost: 3 } });
  await until(async () => (await needsOf("t1")).length > 0);
  expect(await needsOf("t1")).toMatchObject([
    {
      reason: "budget",
      command: "signalbox task update t1 --budget 4",
      text: expect.stringContaining("$1.50 of $3.00 spent"),
    },
  ]);
  await clock.pass(60_000);
  expect(processes.started).toHaveLength(1);
  expect(await store.calls.list({ task: "t1" })).toHaveLength(1);
  expect((await store.getTask("t1"))?.task).not.toHaveProperty("held");
  await edit("t1", { cost: 4 });
  await isIn("done");
});

test("a day's budget that is used up is a need with the command that raises it, and the status of the daemon shows it", async () => {
  const { create, until, needsOf, newest } = await stage(createMemoryStore(), { budgetDay: 1 });
  await create("t1");
  await until(async () => (await needsOf("t1")).length > 0);
  const raise = "signalbox config set budget.day 2";
  const [need] = await needsOf("t1");
  expect(need).toMatchObject({ reason: "budget", command: raise });
  expect(need?.text.split("\n").slice(1)).toEqual([
    `Raise the limit: ${raise}`,
    "Then, or tomorrow: signalbox task retry t1",
  ]);
  const asked = { params: {}, query: {}, body: {}, caller: { kind: "human" as const }, folder: "", lastEvent: "" };
  expect((await status(newest())(asked)).budgets).toEqual([
    { reason: "All projects together today cost $1.50 of $1.00 that are allowed.", fix: `Raise the limit: ${raise}` },
  ]);
});

test("the need of a part that waits for its parent's budget is the parent's, and a new daemon knows it", async () => {
  const { create, until, isIn, edit, needsOf, newest, start, store } = await stage();
  await create("top", { budget: { cost: 3 }, autostart: false, status: "brewing" });
  await until(async () => (await needsOf("top")).length > 0);
  await create("t1", { parent: "top" });
  await until(async () =>
    newest()
      .agents?.dispatch.waiting()
      .some(({ task }) => task === "t1"),
  );
  await until(async () => newest().agents?.dispatch.blockOf("t1/worker#1"));
  expect(await needsOf("t1")).toEqual([]);
  await newest().close();
  await start().recover();
  await until(async () => (await needsOf("top")).length > 0);
  expect((await store.getTask("t1"))?.task.status).toBe("brewing");
  await edit("top", { cost: 20 });
  await isIn("done");
});

test("what a deleted task has used counts for its parent", async () => {
  const { create, until, isIn, newest, store } = await stage();
  await create("top");
  await until(async () => (await store.getTask("top"))?.isOpen === false);
  await create("t1", { parent: "top" });
  await isIn("done");
  await until(async () => (await store.getTask("t1"))?.isOpen === false);
  const asked = { params: { task: "t1" }, query: {}, body: {}, caller: { kind: "human" }, folder: "" } as const;
  await deleteTask(newest())({ ...asked, lastEvent: "" });
  const used = newest().agents?.book.list() ?? [];
  expect(used.map(({ task, deleted }) => [task, deleted])).toEqual([
    ["top", undefined],
    ["top", undefined],
    ["top", "t1"],
    ["top", "t1"],
  ]);
});
