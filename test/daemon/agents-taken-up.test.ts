import { expect, test } from "vitest";
import { countedUpTo } from "../../src/daemon/agents/read-turn.ts";
import { assignAgent, cleanAgents } from "../../src/daemon/requests/agents.ts";
import { pause } from "../../src/daemon/requests/daemon.ts";
import type { Run } from "../../src/ports/records.ts";
import { sampleDecision } from "../contracts/samples.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { agentStage, meter } from "./agent-stage.ts";

const once = `
version: 1
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work, limits: { attempts: 1 } } }
prompts: { work: Brew }
states:
  brewing:
    agent: { role: worker }
    outcomes: [{ on: stall, then: late }, { on: failed, then: broken }]
    next: done
  late: { waits_for: human, next: done }
  broken: { waits_for: human, next: done }
  done: { terminal: true }
`;

type Stage = Awaited<ReturnType<typeof agentStage>>;

async function atWork(limits = "limits: { attempts: 1 }"): Promise<Stage & { run(): Promise<Run> }> {
  const stage = await agentStage(once.replace("limits: { attempts: 1 }", limits), () => [{ hang: true }]);
  // Later than the times of all real files.
  stage.time.skew = 10 ** 13;
  await stage.create("t1");
  await stage.hasStarted();
  const run = async () => {
    const found = await stage.store.runs.get("t1/worker#1");
    if (found?.started === undefined) throw new Error("There is no run.");
    return found;
  };
  return { ...stage, run };
}

/** Replaces the daemon by another one; `meanwhile` runs in between. */
async function restarted({ core, start, until }: Stage, meanwhile: () => Promise<unknown> = async () => {}) {
  let isClosed = false;
  core.close().then(() => {
    isClosed = true;
  });
  await until(async () => isClosed);
  await meanwhile();
  const next = start();
  await next.recover();
  return next;
}

test("a run that continues after a restart keeps its seat, so that no more runs start than are allowed", async () => {
  const stage = await atWork();
  const next = await restarted(stage);
  expect(next.agents?.dispatch.atWork()).toBe(1);
  stage.processes.end("t1-1", { code: 0 });
  await stage.isIn("done");
  expect(next.agents?.dispatch.atWork()).toBe(0);
});

test("a run that the daemon was about to end when it died is ended after the restart, with the same reason", async () => {
  const stage = await atWork();
  const { store, run, isIn, processes } = stage;
  await restarted(stage, async () => {
    const { started, ...rest } = await run();
    const ending = { word: "stall", reason: "It gave no sign of life." } as const;
    if (started !== undefined) await store.runs.put({ ...rest, started: { ...started, ending } });
  });
  await isIn("late");
  expect(await processes.look("t1-1")).toMatchObject({ kind: "ended", cause: "killed" });
  expect((await run()).word).toBe("stall");
});

test("a run that a person ends while the daemon adopts its runs is ended for that reason, which counts as no attempt", async () => {
  const memory = createMemoryStore();
  let meanwhile = async () => {};
  const list: typeof memory.runs.list = async (filter) => {
    const found = await memory.runs.list(filter);
    await meanwhile();
    return found;
  };
  const stage = await agentStage(once, () => [{ hang: true }], { ...memory, runs: { ...memory.runs, list } });
  stage.time.skew = 10 ** 13;
  await stage.create("t1");
  await stage.hasStarted();
  await restarted(stage, async () => {
    meanwhile = async () => {
      meanwhile = async () => {};
      const run = await memory.runs.get("t1/worker#1");
      const ending = { word: "lost", reason: "A person cancels the task." } as const;
      if (run?.started !== undefined) await memory.runs.put({ ...run, started: { ...run.started, ending } });
    };
  });
  await stage.until(async () => (await memory.runs.get("t1/worker#1"))?.endedAt);
  expect(await memory.runs.get("t1/worker#1")).toMatchObject({ word: "lost", error: "A person cancels the task." });
  expect((await memory.getTask("t1"))?.task.status).toBe("brewing");
});

test("a run that was about to sleep when the daemon died is asleep after the restart, also during a pause: its program is ended", async () => {
  const text = `
version: 1
roles: { worker: { harness: meter, mode: turn, permissions: reduced, prompt: work } }
prompts: { work: Brew }
states:
  todo: { waits_for: human, next: tasting }
  tasting: { waits_for: human, next: done }
  done: { terminal: true }
transitions: [{ from: todo, to: tasting, hooks: [acquire_workspace, { action: spawn_agent, role: worker }] }]
`;
  const stage = await agentStage(text, () => [{ hang: true }]);
  const { store, processes, until } = stage;
  await stage.create("t1");
  await stage.rest();
  await stage.core.submit("t1", { kind: "continue", actor: { role: "human" } });
  await stage.hasStarted();
  let taken: Stage["core"] | undefined;
  const taking = restarted(stage, async () => {
    const { started, ...rest } = (await store.runs.get("t1/worker#1")) as Run;
    if (started !== undefined) await store.runs.put({ ...rest, pid: 0, started: { ...started, asleepSince: 5 } });
  }).then((next) => {
    taken = next;
  });
  await until(async () => taken);
  await taking;
  expect(await processes.look("t1-1")).toMatchObject({ kind: "ended", cause: "killed" });
  expect(taken?.agents?.isAsleep("t1/worker#1")).toBe(true);
  // There is no program to end: the same run stays asleep during a pause.
  const now = { body: { all: true, now: true }, caller: { kind: "human" } } as never;
  expect(taken && (await pause(taken)(now))).toMatchObject({ all: true, ended: 0, failed: [] });
  expect(taken?.agents?.isAsleep("t1/worker#1")).toBe(true);
  expect((await store.getTask("t1"))?.task.runs).toMatchObject({ worker: { key: "worker#1" } });
});

test("a run that its task no longer wants is ended after a restart, and its record closed", async () => {
  const stage = await atWork();
  const { store, run, processes, until } = stage;
  let isTakenUp = false;
  const taking = restarted(stage, async () => {
    const stored = await store.getTask("t1");
    if (stored !== undefined) await store.saveDecision(sampleDecision(stored, { runs: {} }));
  }).then(() => {
    isTakenUp = true;
  });
  await until(async () => isTakenUp);
  await taking;
  expect(await processes.look("t1-1")).toMatchObject({ kind: "ended", cause: "killed" });
  expect(await run()).toMatchObject({ word: "killed", endedAt: expect.any(Number) });
});

test("a run without a sign of life is ended for that reason, which is recorded before its program is ended", async () => {
  const { run, until, isIn, processes } = await atWork("limits: { attempts: 1, stall: 5m }");
  await until(async () => (await processes.look("t1-1")).kind === "ended");
  expect((await run()).started?.ending?.word).toBe("stall");
  await isIn("late");
});

test("the reason for ending a run is recorded before its program is ended", async () => {
  const { core, run, until, isIn, processes } = await atWork();
  const ending = core.agents?.end(await run(), { word: "stall", reason: "By hand." });
  await until(async () => (await processes.look("t1-1")).kind === "ended");
  expect((await run()).started?.ending).toEqual({ word: "stall", reason: "By hand." });
  await isIn("late");
  await ending;
});

test("a live window that belongs to no run is closed after a restart", async () => {
  const stage = await atWork();
  const { store, run, terminal } = stage;
  await restarted(stage, async () => {
    const { started, ...rest } = await run();
    const past = { ...rest, id: "t1/worker#0", key: "worker#0", endedAt: 1, word: "exit" };
    if (started !== undefined)
      await store.runs.put({ ...past, started: { ...started, mode: "session", name: "t1-0" } });
    const order = { session: "sb-t1", window: "worker", argv: ["agent"], env: {}, cwd: "/", title: "", folder: "/" };
    await terminal.open({ run: "t1-0", ...order });
  });
  expect((await terminal.list()).filter(({ dead }) => dead === undefined)).toEqual([]);
});

test.each([
  ["before the daemon died", true],
  ["not yet", false],
])("the usage that a turn reports at its end is counted once: %s", async (_, isCounted) => {
  const stage = await atWork();
  const { store, run, isIn, processes, known } = stage;
  const usage = { model: "", inputTokens: 3, outputTokens: 2, cachedTokens: 0, cost: 5 };
  const events = [{ kind: "usage", usage } as const];
  const end = () => ({ text: "", answer: undefined, error: undefined, events });
  known.set(meter.name, { ...meter, readOutput: () => ({ push: () => [], end }) });
  await restarted(stage, async () => {
    const { started, ...rest } = await run();
    processes.end("t1-1", { code: 0 });
    if (started === undefined || !isCounted) return;
    const { id, project, task, key } = rest;
    const position = countedUpTo(started, 0, true);
    await store.usage.put({ id, project, task, at: 1, run: key, position, ...usage });
  });
  await isIn("done");
  expect(await store.usage.get("t1/worker#1")).toMatchObject(usage);
});

test("an invalid answer is requested twice more in its session, and then reported to the workflow", async () => {
  const text = once
    .replace("prompt: work,", "prompt: work, result: view,")
    .replace("on: failed", "on: invalid")
    .replace(
      "states:",
      "schemas: { view: { type: object, required: [strength], properties: { strength: { type: number } } } }\nstates:",
    );
  const { create, isIn, known, processes } = await agentStage(text, () => [{ exit: 0 }]);
  known.set(meter.name, {
    ...meter,
    can: { ...meter.can, resume: true },
    prepare: async () => ({ argv: ["meter"], env: {}, input: "", message: "", session: "s-1" }),
  });
  await create("t1");
  await isIn("broken");
  expect(processes.started.map(({ id }) => id)).toEqual(["t1-1", "t1-1-2", "t1-1-3"]);
});

test("of two concurrent assignments to an agent one is refused, and an assigned agent is not reassigned", async () => {
  const { core, store, create } = await agentStage(once, () => [{ hang: true }]);
  for (const id of ["t1", "t2"]) await create(id);
  const at = (task: string) => ({
    ...{ params: { agent: "A" }, query: {}, body: { project: "coffee", task }, caller: { kind: "human" } as const },
    ...{ folder: "", lastEvent: "" },
  });
  await store.agents.put({
    ...{ id: "coffee/A", project: "coffee", task: "", at: 0, role: "worker", harness: meter.name, model: "" },
    ...{ state: "idle", reason: "" },
  });
  const clean = () => cleanAgents(core)({ ...at(""), params: {}, body: { project: "coffee" } });
  const [first, second, cleaned] = await Promise.allSettled([
    ...["t1", "t2"].map((task) => assignAgent(core)(at(task))),
    clean(),
  ]);
  expect([first?.status, second?.status, cleaned?.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await store.agents.get("coffee/A")).toMatchObject({ task: "t1", had: ["t1"] });
});
