import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sampleDecision, sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { drive, loadText } from "../../../test/engine/drive.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { removeFolder } from "../../../test/remove-folder.ts";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { createScriptedProcesses } from "../../../test/scripted-processes.ts";
import { createScriptedTerminal } from "../../../test/scripted-terminal.ts";
import { Fault } from "../../fault.ts";
import { agentConfig } from "../../home/agent-fields.ts";
import { makePrivateFolder } from "../../home/make-folder.ts";
import { homePlaces } from "../../home/places.ts";
import type { Harness, HarnessOrder } from "../../ports/harness.ts";
import type { Run } from "../../ports/records.ts";
import { createCallers } from "../callers.ts";
import { createBrake } from "./brake.ts";
import { createDispatch } from "./dispatch.ts";
import { type StartPorts, spawnAgent } from "./start-run.ts";

const workflow = loadText(
  `version: 1
roles: { coder: { harness: any, mode: turn, permissions: reduced, prompt: p } }
states:
  a: { agent: { role: coder }, next: done }
  done: { terminal: true }
prompts: { p: Go }`,
);

type Begin = (reserves: object) => Promise<void>;

/** A task whose agent must be started, and everything needed to start it. */
async function start({
  fails = (): boolean => false,
  check = () => {},
  resume = "",
  prepares = async () => {},
  opens = async () => {},
  reserves = (): boolean => true,
  blocks = (): boolean => false,
  identifies = async () => {},
  notes = async () => {},
} = {}) {
  const home = mkdtempSync(join(tmpdir(), "signalbox-start-"));
  onTestFinished(() => removeFolder(home));
  const places = homePlaces(home);
  makePrivateFolder(places.run);
  const clock = createScriptedClock(1_000_000);
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const fresh = drive(workflow, { status: "a" });
  const { task } = await store.createTask("coffee", sampleTask("t1", { ...fresh.task, project: "coffee" }));
  const orders: HarnessOrder[] = [];
  const harness = {
    ...{ name: "any", title: "Any", isScripted: true },
    can: { session: false, turn: true, resume: true, withholds: [], acknowledges: "stream" },
    detect: async () => ({ found: true, path: "/any", version: "1", hint: "" }),
    async prepare(order: HarnessOrder) {
      orders.push(order);
      return { argv: ["any"], env: order.env, input: "", message: "", session: "" };
    },
    transcriptOf: async () => "",
  } as unknown as Harness;
  const scripted = createScriptedProcesses({ clock, play: () => [{ hang: true }] });
  /** The run's record each time its program was about to be started. */
  const noted: unknown[] = [];
  let isPaused = false;
  const caps = () => ({ most: 1, perProject: 0, perHarness: {} });
  const rankOf = async () => ({ ways: 1, priority: 0, order: 1 });
  const dispatch = createDispatch({ clock, caps, rankOf, paused: () => (isPaused ? "It is paused." : undefined) });
  let secrets = 0;
  let looks = 0;
  const block = { text: "The budget is taken.", fix: "", owner: "t1", needsPerson: false };
  const brakePorts = { store, clock, places, terminal: {}, processes: scripted, known: () => [] };
  const note = (run: Run, ending: object) =>
    store.runs.put({ ...run, started: { ...run.started, ending } } as unknown as Run);
  const brake = createBrake({ ...brakePorts, note, onError() {} } as never);
  const discarded: string[] = [];
  const watched: Run[] = [];
  const runs = { ...store.runs, put: (run: Run) => notes().then(() => store.runs.put(run)) };
  const noting = { ...store, runs };
  const ports = {
    ...{ store: noting, clock, places, dispatch, log: { info() {} }, terminal: createScriptedTerminal(clock) },
    table: { identify: (pid: number) => identifies().then(() => ({ boot: "b", pid, start: "1" })) },
    ids: { secret: () => String(++secrets).padStart(48, "0") },
    callers: createCallers(store, clock, "sbh_x"),
    environment: { env: {}, home, places, allowed: () => [] },
    harnesses: () => new Map([[harness.name, harness]]),
    confine: async ({ launch }: { launch: object }) => ({ ...launch, isConfined: false }),
    processes: {
      ...scripted,
      async start(order: Parameters<typeof scripted.start>[0]) {
        noted.push((await store.runs.get("t1/coder#1"))?.pid);
        if (fails()) throw new Fault("processes.silent", "Nobody answers.", { retry: "later" });
        await opens();
        return scripted.start(order);
      },
    },
    book: { check },
    budgets: {
      // The first look is before another run takes the budget.
      blockOf: async () => (looks++ > 0 && blocks() ? block : undefined),
      reserve: async (_: unknown, __: unknown, begin: Begin) => reserves() && begin({}).then(() => true),
    },
    config: () => agentConfig({}),
    tiersOf: async () => ({}),
    workflowOf: async () => workflow,
    folderOf: async () => home,
    placeFiles: () => prepares().then(() => ""),
    ...{ unlessHeld: brake.unlessHeld, released: brake.released },
    discard: async (_: unknown, run: string) => void discarded.push(run),
    portOf: async () => undefined,
    testCommandOf: () => [],
    watch: (run: Run) => void watched.push(run),
    paused: () => undefined,
    launched() {},
    tell: async () => {},
  } as unknown as StartPorts;
  const effect = fresh.effects.find(({ action }) => action === "spawn_agent");
  if (effect?.agent === undefined) throw new Error("There is no run to start.");
  const owed = { ...effect, agent: { ...effect.agent, resume } };
  return {
    ...{ store, clock, dispatch, orders, task, scripted, noted, brake, discarded, watched },
    pause: (is: boolean) => {
      isPaused = is;
      dispatch.wake();
    },
    spawn: () => spawnAgent(ports)(owed, { task, key: "t1:1" }),
  };
}

const ended = { endedAt: 1_000, word: "exit" } as const;

function earlier(change: Partial<Run>): Run {
  return {
    ...{ id: "t1/coder#1", project: "coffee", task: "t1", at: 0, key: "coder#1", role: "coder", harness: "any" },
    ...{ model: "", session: "s-1", folder: "/", pid: 1, endedAt: undefined, word: "" },
    ...change,
  };
}

test("a run that its task no longer wants when it gets a seat is not started, and releases the seat", async () => {
  const { store, task, dispatch, pause, spawn, scripted } = await start();
  pause(true);
  const spawned = spawn();
  while (dispatch.waiting().length === 0) await new Promise((resolve) => setImmediate(resolve));
  const stored = await store.getTask(task.id);
  if (stored !== undefined) await store.saveDecision(sampleDecision(stored, { runs: {} }));
  pause(false);
  await spawned;
  expect(scripted.started).toEqual([]);
  expect(dispatch.atWork()).toBe(0);
});

/** A person cancels the task: `decide` is what the engine says about it. */
function cancel({ brake, task }: Staged, decide: () => Promise<unknown>) {
  return brake.holdTasks(new Set([task.id]), { word: "lost", reason: "A person cancels the task." }, decide);
}

/** The task has moved on, and wants no run. */
async function leaveRuns({ store, task }: Staged) {
  const stored = await store.getTask(task.id);
  if (stored !== undefined) await store.saveDecision(sampleDecision(stored, { runs: {} }));
}

type Staged = Awaited<ReturnType<typeof start>>;

test("a run whose task moves on while its program is prepared is not started, and is discarded", async () => {
  const stage: Staged = await start({ prepares: () => cancel(stage, () => leaveRuns(stage)).then(() => undefined) });
  await stage.spawn();
  expect([stage.scripted.started, stage.discarded, stage.dispatch.atWork()]).toEqual([[], ["coder#1"], 0]);
});

test("a run that a person cancels while its program is being started is ended, and waits for the decision", async () => {
  for (const isRefused of [false, true]) {
    const [opening, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const opens = () => {
      opening.resolve();
      return opened.promise;
    };
    const stage: Staged = await start({ opens });
    const { scripted, spawn, discarded, watched, dispatch } = stage;
    const spawned = spawn();
    await opening.promise;
    const decided = Promise.withResolvers<void>();
    const cancelled = cancel(stage, () => decided.promise);
    opened.resolve();
    await expect.poll(() => scripted.look("t1-1").then(({ kind }) => kind)).toBe("ended");
    expect([discarded, watched]).toEqual([[], []]);
    if (!isRefused) await leaveRuns(stage);
    decided.resolve();
    await Promise.all([cancelled, spawned]);
    expect([scripted.started.length, dispatch.atWork()]).toEqual([1, 0]);
    // If the cancellation is refused, the end of the run is reported, and its workflow decides.
    const reported = { key: "coder#1", started: { ending: { word: "lost" } } };
    expect({ discarded, watched }).toMatchObject(
      isRefused ? { discarded: [], watched: [reported] } : { discarded: ["coder#1"], watched: [] },
    );
  }
});

test("a run whose task is being cancelled when its program is ready is started if the cancellation is refused", async () => {
  const decided = Promise.withResolvers<void>();
  let isFirst = true;
  const stage: Staged = await start({
    async prepares() {
      if (isFirst) void cancel(stage, () => decided.promise);
      isFirst = false;
    },
  });
  const spawned = stage.spawn();
  await expect.poll(() => stage.store.runs.list({ task: "t1" })).toHaveLength(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect([stage.scripted.started.length, stage.dispatch.atWork()]).toEqual([0, 0]);
  decided.resolve();
  await spawned;
  expect([stage.scripted.started.length, stage.watched.length, stage.dispatch.atWork()]).toEqual([1, 1, 1]);
});

test("a run that waited for a seat until the budget was spent is not started, and releases its seat", async () => {
  let isSpent = false;
  const check = () => {
    if (isSpent) throw new Fault("agents.budget", "The budget is spent.");
  };
  const { dispatch, pause, spawn, scripted } = await start({ check });
  pause(true);
  const spawned = spawn();
  while (dispatch.waiting().length === 0) await new Promise((resolve) => setImmediate(resolve));
  isSpent = true;
  pause(false);
  await expect(spawned).rejects.toMatchObject({ code: "agents.budget" });
  expect([scripted.started, dispatch.atWork()]).toEqual([[], 0]);
});

test("a run whose budget another run takes before it starts releases its seat, and waits for the budget", async () => {
  let isTaken = true;
  const { dispatch, spawn, scripted, store } = await start({ reserves: () => !isTaken, blocks: () => isTaken });
  const spawned = spawn();
  await expect.poll(() => dispatch.blockOf("t1/coder#1")?.text).toBe("The budget is taken.");
  expect([dispatch.atWork(), scripted.started, await store.runs.list({ task: "t1" })]).toEqual([0, [], []]);
  // Another run can have the only seat meanwhile.
  await dispatch.enter({ run: "t2/coder#1", task: "t2", project: "coffee", harness: "any" });
  dispatch.left("t2/coder#1");
  isTaken = false;
  dispatch.wake();
  await spawned;
  expect([dispatch.atWork(), scripted.started.length]).toEqual([1, 1]);
});

test("a run that an earlier daemon has started and that still works is adopted with a seat, not started again", async () => {
  for (const pid of [0, 7]) {
    const { dispatch, spawn, scripted, store, watched } = await start();
    await scripted.start({ id: "t1-1", argv: ["any"], env: {}, folder: "/", input: "" } as never);
    const started = { name: "t1-1", mode: "turn", at: 1, part: 0 } as NonNullable<Run["started"]>;
    await store.runs.put(earlier({ pid, started }));
    await spawn();
    expect([scripted.started.length, dispatch.atWork(), dispatch.isSeated("t1/coder#1")]).toEqual([1, 1, true]);
    expect(watched.map(({ key }) => key)).toEqual(["coder#1"]);
  }
});

test("a run that a person ends while it is adopted keeps the reason, so that its end counts as no attempt", async () => {
  for (const at of ["identify", "put"] as const) {
    const state = { isCancelled: false };
    const cancelOnce = async (now: typeof at) => {
      if (now !== at || state.isCancelled) return;
      state.isCancelled = true;
      // The cancellation is refused, so the task still wants the run.
      await cancel(stage, async () => {});
    };
    const stage: Staged = await start({ identifies: () => cancelOnce("identify"), notes: () => cancelOnce("put") });
    const { scripted, store, spawn, watched } = stage;
    await scripted.start({ id: "t1-1", argv: ["any"], env: {}, folder: "/", input: "" } as never);
    const started = { name: "t1-1", mode: "turn", at: 1, part: 0 } as NonNullable<Run["started"]>;
    await store.runs.put(earlier({ pid: 0, started }));
    // The performer tries again.
    await spawn().catch((error) => expect(error).toMatchObject({ code: "agents.superseded", retry: "later" }));
    await spawn();
    expect([state.isCancelled, scripted.started.length]).toEqual([true, 1]);
    expect((await store.runs.get("t1/coder#1"))?.started?.ending?.word).toBe("lost");
    expect(watched.at(-1)?.started?.ending?.word).toBe("lost");
  }
});

test("a run that could not be started releases its seat, and a retry gives it the same token", async () => {
  let isBroken = true;
  const { dispatch, orders, spawn, scripted } = await start({ fails: () => isBroken });
  await expect(spawn()).rejects.toMatchObject({ code: "processes.silent" });
  expect(dispatch.atWork()).toBe(0);
  isBroken = false;
  await spawn();
  expect(scripted.started).toHaveLength(1);
  expect(dispatch.atWork()).toBe(1);
  const [first, second] = orders.map(({ env }) => env.SIGNALBOX_TOKEN);
  expect([first, second]).toEqual([expect.stringMatching(/^sbr_/), first]);
});

test("a run is recorded before its program is started, so that it is found again after a crash", async () => {
  const { store, spawn, noted, scripted } = await start();
  await spawn();
  expect([noted, scripted.started.length]).toEqual([[0], 1]);
  expect((await store.runs.get("t1/coder#1"))?.pid).toBeGreaterThan(0);
});

test("a run that has ended is not started again, although its effect is still owed", async () => {
  const { store, spawn, scripted } = await start();
  await store.runs.put(earlier(ended));
  await spawn();
  expect(scripted.started).toEqual([]);
});

test("only a session of the same harness is resumed", async () => {
  for (const [harness, kind] of [
    ["any", "resume"],
    ["other", "new"],
  ]) {
    const { store, orders, spawn } = await start({ resume: "coder#0" });
    await store.runs.put(earlier({ id: "t1/coder#0", key: "coder#0", harness: harness ?? "", ...ended }));
    await spawn();
    expect(orders.map(({ session }) => session.kind)).toEqual([kind]);
  }
});

test("a run is started with the undelivered messages of its predecessor, once, and without the predecessor's prompt", async () => {
  const { store, orders, spawn } = await start();
  await store.runs.put(earlier({ id: "t1/coder#0", key: "coder#0", ...ended }));
  const base = { project: "coffee", task: "t1", at: 1, from: "engine", to: "coder#0", deliveredAt: undefined };
  const problem = "coder#0 ended before the message was delivered.";
  await store.messages.put({ ...base, id: "t1/coder#0:k1", text: "Read ## Feedback.", problem });
  await store.messages.put({ ...base, id: "t1/coder#0:k0:prompt", text: "The whole prompt.", problem });
  await store.messages.put({ ...base, id: "t1/coder#0:k2", text: "It arrived.", deliveredAt: 2 });
  await spawn();
  expect(orders.map(({ prompt }) => prompt)).toEqual([
    "Go\n\nYour predecessor ended, and may not have been told this:\nRead ## Feedback.",
  ]);
  const told = (await store.messages.get("t1/coder#0:k1"))?.deliveredAt;
  expect(told).toBeGreaterThan(0);
});
