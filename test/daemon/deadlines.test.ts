import { expect, test } from "vitest";
import { Fault } from "../../src/fault.ts";
import type { Store } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { coreStage } from "./core-stage.ts";

const human = { role: "human" };
const timed = `
version: 1
states:
  resting: { waits_for: 60s, next: asking }
  asking: { waits_for: human, limits: { time: 100s }, outcomes: [{ on: time, then: late }], next: done }
  late: { waits_for: human, next: done }
  done: { terminal: true }
`;

test("a timed wait and a time limit each end at their deadline", async () => {
  const { create, rest, statuses, core, errors } = await coreStage(timed);
  await create("t1");
  await rest();
  expect(core.deadlines.of("t1")).toMatchObject({ at: 1_060_000 });
  await rest(59_999);
  expect(await statuses("t1")).toEqual(["resting"]);
  await rest(1);
  expect(await statuses("t1")).toEqual(["asking"]);
  await rest(99_999);
  expect(await statuses("t1")).toEqual(["asking"]);
  await rest(1);
  expect(await statuses("t1")).toEqual(["late"]);
  expect(core.deadlines.of("t1")).toBeUndefined();
  expect(errors).toEqual([]);
});

test("editing a task does not give it more time", async () => {
  const { create, rest, statuses, core } = await coreStage(timed);
  await create("t1");
  await rest(59_000);
  await core.submit("t1", { kind: "edit", actor: human, set: { summary: "Brew it slowly" } });
  await rest(1_000);
  expect(await statuses("t1")).toEqual(["asking"]);
});

test("deadlines continue while the daemon is down", async () => {
  const { create, rest, statuses, core, start, clock } = await coreStage(timed);
  await create("t1");
  await rest(30_000);
  await core.submit("t1", { kind: "edit", actor: human, set: { summary: "Changed later" } });
  await core.close();
  await clock.pass(20_000);
  const next = start();
  await next.recover();
  await rest();
  expect(await statuses("t1")).toEqual(["resting"]);
  await rest(10_000);
  expect(await statuses("t1")).toEqual(["asking"]);
});

test("a clock that is set back while the daemon is down grants no more than the full time again", async () => {
  const { create, rest, statuses, core, start, clock } = await coreStage(timed);
  await create("t1");
  await rest(30_000);
  await core.close();
  await clock.pass(-600_000);
  const next = start();
  await next.recover();
  await rest(30_000);
  await next.submit("t1", { kind: "edit", actor: human, set: { summary: "Changed later" } });
  await rest(30_000);
  expect(await statuses("t1")).toEqual(["asking"]);
});

test("a deadline that could not be computed because the store failed is computed later", async () => {
  const store = createMemoryStore();
  let failures = 1;
  const failing: Store = {
    ...store,
    async listEvents(...args) {
      if (failures-- > 0) throw new Fault("store.full", "The disk is full.", { retry: "later" });
      return store.listEvents(...args);
    },
  };
  const { create, rest, statuses, core } = await coreStage(timed, 1, failing);
  await create("t1");
  await rest();
  expect(core.deadlines.of("t1")).toBeUndefined();
  await rest(10_000);
  expect(core.deadlines.of("t1")).toMatchObject({ at: 1_060_000 });
  await rest(50_000);
  expect(await statuses("t1")).toEqual(["asking"]);
});

test("a limit on the whole life holds the task once; after a person continues it, it is not held again", async () => {
  const text = `
version: 1
limits: { time: 100s }
states:
  open: { waits_for: human, next: more }
  more: { waits_for: human, next: done }
  done: { terminal: true }
`;
  const { create, rest, core, store, statuses, start } = await coreStage(text);
  await create("t1");
  await rest(100_000);
  expect((await store.getTask("t1"))?.task.held?.word).toBe("time");
  await core.submit("t1", { kind: "continue", actor: human });
  await rest(1_000_000);
  expect((await store.getTask("t1"))?.task.held).toBeUndefined();
  expect(await statuses("t1")).toEqual(["more"]);
  // Also after a restart of the daemon.
  await core.close();
  const next = start();
  await next.recover();
  await rest(1_000_000);
  expect((await store.getTask("t1"))?.task.held).toBeUndefined();
  await next.close();
});

test("a deadline whose decision failed is retried, whatever the error was", async () => {
  const store = createMemoryStore();
  let isChanged = false;
  const guarded: Store = {
    ...store,
    async openEffects(task) {
      // As if a person must trust the repository first.
      if (isChanged) throw new Fault("project.changed", "The hooks have changed since you last looked.");
      return store.openEffects(task);
    },
  };
  const { create, rest, statuses } = await coreStage(timed, 1, guarded);
  await create("t1");
  await rest(30_000);
  isChanged = true;
  await rest(60_000);
  expect(await statuses("t1")).toEqual(["resting"]);
  isChanged = false;
  await rest(120_000);
  expect(await statuses("t1")).toEqual(["asking"]);
});

test("continuing a task that was held at the time limit of its state grants the full time again", async () => {
  const text = `
version: 1
roles: { worker: { mode: turn, permissions: reduced, prompt: work } }
prompts: { work: Brew }
states:
  brewing: { agent: { role: worker }, limits: { time: 100s }, next: done }
  done: { terminal: true }
`;
  const { create, rest, core, store, start } = await coreStage(text);
  const held = async () => (await store.getTask("t1"))?.task.held?.word;
  await create("t1");
  await rest(100_000);
  expect(await held()).toBe("time");
  await core.submit("t1", { kind: "continue", actor: human });
  await rest(50_000);
  expect(await held()).toBeUndefined();
  // Also after a restart of the daemon.
  await core.close();
  const next = start();
  await next.recover();
  await rest(49_000);
  expect(await held()).toBeUndefined();
  await rest(1_000);
  expect(await held()).toBe("time");
  await next.close();
});
