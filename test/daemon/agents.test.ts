import { expect, test } from "vitest";
import { Fault } from "../../src/fault.ts";
import type { Store } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { agentStage, meter } from "./agent-stage.ts";

const once = `
version: 1
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work, limits: { cost: 1, attempts: 1 } } }
prompts: { work: Brew }
states:
  brewing:
    agent: { role: worker }
    outcomes: [{ on: cost, then: dear }, { on: failed, then: broken }]
    next: done
  dear: { waits_for: human, next: done }
  broken: { waits_for: human, next: done }
  done: { terminal: true }
`;

test("a run that exceeds its budget ends with that reason, not as a killed run", async () => {
  const { create, isIn, processes } = await agentStage(once, () => [{ print: "2\n" }, { hang: true }]);
  await create("t1");
  await isIn("dear");
  expect(processes.started).toHaveLength(1);
});

test("a task whose harness is not installed names the command that chooses another, also for the review, and then continues", async () => {
  const worker = "{ mode: turn, permissions: reduced, prompt: work }";
  const reviewed = `
version: 1
roles: { worker: ${worker}, reviewer: { harness: review, mode: turn, permissions: reduced, prompt: work } }
prompts: { work: Brew }
states:
  brewing: { agent: { role: worker }, next: tasting }
  tasting: { agent: { role: reviewer }, next: done }
  done: { terminal: true }
`;
  const { create, until, isIn, known, store, core } = await agentStage(reviewed, () => [{ exit: 0 }]);
  const gone = { ...meter, name: "gone", title: "Gone", detect: async () => ({ found: false, hint: "Buy it." }) };
  known.set("gone", gone as never);
  const held = async () => (await store.getTask("t1"))?.task.held?.reason ?? "";
  const goOn = async (set: object) => {
    await core.submit("t1", { kind: "edit", actor: { role: "human" }, set });
    await core.submit("t1", { kind: "continue", actor: { role: "human" } });
  };
  await create("t1", { harness: "gone", reviewHarness: "other" });
  known.set("other", { ...gone, name: "other" } as never);
  await until(held);
  expect(await held()).toContain("signalbox task update t1 --harness NAME\nThen: signalbox task continue t1");
  await goOn({ harness: "meter" });
  await isIn("tasting");
  await until(held);
  expect(await held()).toContain("signalbox task update t1 --review-harness NAME");
  await goOn({ reviewHarness: "meter" });
  await isIn("done");
});

test("the record of an ended run stays closed, whatever its last output was", async () => {
  const { create, hasStarted, isIn, store, processes, core, clock } = await agentStage(once, () => [{ hang: true }]);
  await create("t1");
  await hasStarted();
  const watch = core.agents?.watches()[0];
  await watch?.keep({ started: { ...watch.started, raised: "Somebody has to look at it." } });
  processes.print("t1-1", "busy\n");
  processes.end("t1-1", { code: 0 });
  await isIn("done");
  await clock.pass(1_000);
  expect((await store.runs.list({}))[0]).toMatchObject({ word: "ok", endedAt: expect.any(Number) });
});

test("a run whose harness is no longer configured needs a person; once the harness is configured again, the run is watched", async () => {
  const stage = await agentStage(once, () => [{ hang: true }]);
  const { create, hasStarted, isIn, until, store, core, start, known, processes, clock, statuses } = stage;
  await create("t1");
  await hasStarted();
  let isClosed = false;
  core.close().then(() => {
    isClosed = true;
  });
  await until(async () => isClosed);
  known.delete(meter.name);
  const next = start();
  await next.recover();
  await until(async () => (await store.runs.list({}))[0]?.started?.raised);
  expect((await store.runs.list({}))[0]?.started?.raised).toContain('Its harness "meter" is no longer configured');
  processes.end("t1-1", { code: 0 });
  await clock.pass(10_000);
  expect(await statuses("t1")).toEqual(["brewing"]);
  const told = (await store.listEvents({ task: "t1" }, 0, 100)).filter(({ event }) => event.type === "agent.raised");
  expect(told).toHaveLength(1);
  known.set(meter.name, meter);
  await isIn("done");
  await clock.pass(10_000);
  await next.close();
});

test("if the end of a run cannot be decided before a person acts, the person is told", async () => {
  const store = createMemoryStore();
  let isChanged = false;
  const guarded: Store = {
    ...store,
    async openEffects(task) {
      if (isChanged) throw new Fault("project.changed", "The hooks have changed.", { hint: "Look at them." });
      return store.openEffects(task);
    },
  };
  const { create, hasStarted, isIn, until, processes } = await agentStage(once, () => [{ hang: true }], guarded);
  await create("t1");
  await hasStarted();
  isChanged = true;
  processes.end("t1-1", { code: 0 });
  const raised = async () =>
    (await store.listEvents({ task: "t1" }, 0, 100)).filter(({ event }) => event.type === "agent.raised");
  await until(async () => (await raised()).length > 0);
  expect((await raised()).map(({ event }) => event.data.reason)).toEqual(["The hooks have changed. Look at them."]);
  isChanged = false;
  await isIn("done");
});

const needsOf = async ({ core, store }: Pick<Awaited<ReturnType<typeof agentStage>>, "core" | "store">) => {
  const stored = await store.getTask("t1");
  return stored === undefined ? "" : (await core.needs.of(stored)).map(({ text }) => text).join("\n");
};

/** A run with an error, until `mend` is called: whenever it is checked, or when its end is judged. */
async function failingRun(where: "check" | "end", error: Error) {
  let isBroken = false;
  const fails = <T>(value: T) => {
    if (isBroken) throw error;
    return value;
  };
  const turn = { text: "", answer: undefined, error: undefined, events: [] };
  const harness = {
    ...meter,
    readOutput: () => ({ push: () => [], end: () => (where === "end" ? fails(turn) : turn) }),
    get can() {
      return where === "check" ? fails(meter.can) : meter.can;
    },
  };
  const stage = await agentStage(once, () => [{ hang: true }]);
  stage.known.set(meter.name, harness as never);
  await stage.create("t1");
  await stage.hasStarted();
  isBroken = true;
  if (where === "end") stage.processes.end("t1-1", { code: 0 });
  return {
    ...stage,
    mend: () => {
      isBroken = false;
    },
    raised: async () =>
      (await stage.store.listEvents({ task: "t1" }, 0, 500)).flatMap(({ event }) =>
        event.type === "agent.raised" ? [event.data.reason] : [],
      ),
  };
}

test("an unforeseen error while a run is checked needs a person, once, until the run can be checked", async () => {
  const stage = await failingRun("check", new RangeError("Maximum call stack size exceeded"));
  await stage.until(() => needsOf(stage));
  expect(await needsOf(stage)).toContain("unforeseen error occurred while it was checked");
  expect(await needsOf(stage)).toContain("Maximum call stack size exceeded.");
  await stage.clock.pass(60_000);
  expect(await stage.raised()).toHaveLength(1);
  stage.mend();
  await stage.until(async () => (await needsOf(stage)) === "");
  stage.processes.end("t1-1", { code: 0 });
  await stage.isIn("done");
});

test("an error of the system while the end of a run is judged needs a person, once, until the end can be judged", async () => {
  const stage = await failingRun("end", Object.assign(new Error("EIO: i/o error"), { code: "EIO" }));
  await stage.until(() => needsOf(stage));
  expect(await needsOf(stage)).toContain("How it ended could not be read: EIO: i/o error");
  await stage.clock.pass(60_000);
  expect(await stage.raised()).toHaveLength(1);
  stage.mend();
  await stage.isIn("done");
});

test("a run whose events cannot be read needs a person, until they can be read", async () => {
  const stage = await agentStage(once, () => [{ hang: true }]);
  await stage.create("t1");
  await stage.hasStarted();
  stage.time.trouble = "/events is not a plain file.";
  await stage.until(() => needsOf(stage));
  expect(await needsOf(stage)).toContain("Its events cannot be read");
  expect(await needsOf(stage)).toContain("/events is not a plain file.");
  stage.time.trouble = "";
  await stage.until(async () => (await needsOf(stage)) === "");
  const raised = (await stage.store.listEvents({ task: "t1" }, 0, 100)).filter(
    ({ event }) => event.type === "agent.raised",
  );
  expect(raised).toHaveLength(1);
});

test("after a machine slept for hours its agents are not stalled; an agent that stays silent afterwards is", async () => {
  const silent = once.replace("attempts: 1", "attempts: 1, stall: 5m");
  const { create, hasStarted, isIn, processes, time, clock } = await agentStage(silent, () => [{ hang: true }]);
  // Later than the times of all real files.
  time.skew = 10 ** 13;
  await create("t1");
  await hasStarted();
  await clock.pass(10_000);
  time.skew += 4 * 3_600_000;
  await clock.pass(60_000);
  expect(await processes.look("t1-1")).toMatchObject({ kind: "running" });
  await isIn("broken");
  expect(await processes.look("t1-1")).toMatchObject({ kind: "ended", cause: "killed" });
});

test("continuing a task that was held for the cost of its state grants the same budget again", async () => {
  const state = `
version: 1
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work } }
prompts: { work: Brew }
states:
  brewing: { agent: { role: worker }, limits: { cost: 1 }, next: done }
  done: { terminal: true }
`;
  const { create, until, store, core, processes, clock } = await agentStage(state, () => [
    { print: processes.started.length === 1 ? "2\n" : "0.5\n" },
    { hang: true },
  ]);
  const held = async () => (await store.getTask("t1"))?.task.held?.word;
  await create("t1");
  await until(held);
  expect(await held()).toBe("cost");
  await clock.pass(10_000);
  await core.submit("t1", { kind: "continue", actor: { role: "human" } });
  await until(async () => core.agents?.book.of("t1/worker#2")?.cost);
  await clock.pass(10_000);
  expect(await held()).toBeUndefined();
  processes.print("t1-2", "0.5\n");
  await until(held);
  expect(processes.started).toHaveLength(2);
});

test("a waiting run whose task became more urgent gets the next seat", async () => {
  const text = `
version: 1
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work } }
prompts: { work: Brew }
states: { brewing: { agent: { role: worker }, next: done }, done: { terminal: true } }
`;
  const { core, create, hasStarted, until } = await agentStage(text, () => [{ hang: true }], undefined, {
    agentsMost: 1,
  });
  const waiting = () => core.agents?.dispatch.waiting().map(({ task }) => task) ?? [];
  await create("t1");
  await hasStarted();
  await create("t2");
  await create("t3");
  await until(async () => waiting().length === 2);
  expect(waiting()).toEqual(["t2", "t3"]);
  await core.submit("t3", { kind: "edit", actor: { role: "human" }, set: { priority: 5 } });
  await until(async () => waiting()[0] === "t3");
  expect(waiting()).toEqual(["t3", "t2"]);
});
