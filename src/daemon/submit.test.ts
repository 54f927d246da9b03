import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../test/contracts/samples.ts";
import { builtIn } from "../../test/engine/drive.ts";
import { createMemoryStore } from "../../test/memory-store/memory-store.ts";
import { systemClock } from "../adapters/system.ts";
import { createFacts } from "./look.ts";
import { createSubmit } from "./submit.ts";
import { nothingOutside } from "./workspaces/outside.ts";

test("a quiet agent is reminded, and then a person is called, whatever fails in its workspace", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const runs = { worker: { key: "worker#1", mode: "session" } } as const;
  const change = { status: "working", phase: "waiting", workspace: "/w", runs } as const;
  await store.createTask("coffee", sampleTask("t1", change, { document: { text: "", authors: {} } }));
  const submit = createSubmit({
    ...{ store, clock: systemClock, changed() {}, factsOf: createFacts(store, async () => false) },
    workflowOf: async () => builtIn("default"),
    outsideOf: async () => {
      throw new Error("fatal: bad object");
    },
  });
  const idle = async () => (await submit("t1", { kind: "idle", run: "worker#1" })).stored.task;
  expect((await idle()).wait.reminded).toBe(1);
  await idle();
  const { held } = await idle();
  expect(held).toMatchObject({ word: "idle", reason: expect.stringContaining("fatal: bad object") });
});

test("a person stops a task that changes all the time", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1", { status: "stuck" }, { document: { text: "", authors: {} } }));
  const submit = createSubmit({
    ...{ store, clock: systemClock, changed() {}, factsOf: createFacts(store, async () => false) },
    workflowOf: async () => builtIn("default"),
    // A person's request looks at the workspace; the results of tests, which change the task meanwhile, do not.
    outsideOf: async () => {
      await sleep(5);
      return nothingOutside;
    },
  });
  let changes = 0;
  let isOver = false;
  const changing = (async () => {
    for (; !isOver; await sleep(0))
      await submit("t1", {
        kind: "edit",
        actor: { role: "engine" },
        set: { tested: { word: "ok", commit: `${++changes}` } },
      });
  })();
  const cancel = { kind: "move", to: "cancelled", actor: { role: "human" } } as const;
  try {
    expect((await submit("t1", cancel, undefined, "brake")).decision.kind).toBe("moved");
  } finally {
    isOver = true;
    await changing;
  }
  expect(changes).toBeGreaterThan(0);
});
