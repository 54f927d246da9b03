import { expect, test, vi } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { builtIn } from "../../../test/engine/drive.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { Fault } from "../../fault.ts";
import type { Agents } from "../agents/agents.ts";
import type { Trouble } from "../workspaces/trouble.ts";
import { createNeeds, findNeeds, type NeedPorts, noticeRuns } from "./needs.ts";

test("a task whose needs cannot be found hides neither the needs nor the calls of others", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const state = { status: "reviewing", phase: "waiting" } as const;
  const broken = await store.createTask("coffee", sampleTask("t1", state));
  const sound = await store.createTask("coffee", sampleTask("t2", state));
  const called: string[] = [];
  const errors: unknown[] = [];
  let wake = () => {};
  const clock = {
    now: () => 0,
    after(_: number, run: () => void) {
      wake = run;
      return () => {};
    },
  } as NeedPorts["clock"];
  const needs = createNeeds({
    ...{ store, clock, workflowOf: async () => builtIn("minimal"), agents: () => undefined, known: () => new Map() },
    isNextLeft: async ({ id }) => {
      if (id === "t1") throw new RangeError("Invalid time value");
      return false;
    },
    found: async ({ task }) => void called.push(task.id),
    ...{ heard() {}, forgot() {}, onError: (error) => errors.push(error) },
  });
  for (const stored of [broken, sound]) needs.heard(stored);
  wake();
  await vi.waitFor(() => expect(called).toEqual(["t2"]));
  expect(await needs.of(broken)).toEqual([]);
  expect(await needs.of(sound)).toMatchObject([{ reason: "approval" }]);
  expect(errors).toContainEqual(new RangeError("Invalid time value"));
  await needs.stop();
});

/** Needs of tasks that wait for a person, over a store that notes which of them are read. */
async function watchedNeeds(changes: Readonly<Record<string, Parameters<typeof sampleTask>[1]>>) {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const clock = createScriptedClock();
  const read: string[] = [];
  const getTask = (id: string) => {
    read.push(id);
    return store.getTask(id);
  };
  const state: { trouble?: Trouble | undefined; full?: Fault | undefined } = {};
  const needs = createNeeds({
    ...{ store: { ...store, getTask }, clock, workflowOf: async () => builtIn("minimal"), agents: () => undefined },
    ...{ troubleOf: async () => state.trouble, unsaved: () => state.full, known: () => new Map() },
    found: async () => {},
    heard() {},
    forgot() {},
    onError(error) {
      throw error;
    },
  });
  for (const [id, change] of Object.entries(changes))
    needs.heard(await store.createTask("coffee", sampleTask(id, { status: "reviewing", phase: "waiting", ...change })));
  await clock.pass(1_000);
  /** The tasks that are read in this time, and in the second after it. */
  const readIn = async (milliseconds: number) => {
    read.length = 0;
    await clock.pass(milliseconds);
    await clock.pass(1_000);
    return [...new Set(read)].toSorted();
  };
  return { store, needs, state, readIn };
}

test("in a quiet minute only tasks with a workspace are read again, and all if the disk is full, or no longer", async () => {
  const { needs, state, readIn } = await watchedNeeds({ t1: {}, t2: { workspace: "/w" }, t3: {} });
  expect(await readIn(60_000)).toEqual(["t2"]);
  state.trouble = { reason: "Its folder is gone.", fix: "" };
  expect(await readIn(60_000)).toEqual(["t2"]);
  expect((await needs.all()).get("t2")?.map(({ reason }) => reason)).toContain("workspace");
  for (const full of [new Fault("store.full", "The disk is full."), undefined]) {
    state.full = full;
    expect(await readIn(60_000)).toEqual(["t1", "t2", "t3"]);
    const isTold = (await needs.all()).get("t3")?.some(({ reason }) => reason === "disk");
    expect(isTold).toBe(full !== undefined);
  }
  await needs.stop();
});

test("the end of a task lets the tasks be looked at that depend on others, and not all that are open", async () => {
  const { store, needs, readIn } = await watchedNeeds({ t1: {}, t2: {}, t3: { dependsOn: ["t1:done"] }, t4: {} });
  const stored = await store.getTask("t1");
  if (stored === undefined) throw new Error("The task is there.");
  needs.heard({ ...stored, isOpen: false });
  // It is read once more, and t3 is looked at with what it depends on.
  expect(await readIn(1_000)).toEqual(["t1", "t3"]);
  await needs.stop();
});

test("an error names only a plausible reset time, and a person is called for events that cannot be read", async () => {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  const runs = { worker: { key: "worker#1", mode: "session" } } as const;
  const stored = await store.createTask("coffee", sampleTask("t1", { status: "working", phase: "waiting", runs }));
  const told = async (resetAt: number | undefined, trouble = "") => {
    const error = { kind: "authentication", message: "Log in", resetAt };
    const signs = {
      activity: trouble === "" ? "idle" : "busy",
      since: 0,
      error: resetAt === undefined ? undefined : error,
    };
    const watch = { run: { key: "worker#1" }, started: { raised: "" }, signs, trouble };
    const agents = {
      watchOf: () => watch,
      watches: () => [],
      terminalTrouble: () => undefined,
      dispatch: { waiting: () => [], blocksOf: () => [], lackOf: () => undefined },
    } as unknown as Agents;
    const ports = { store, clock: { now: () => 0 }, workflowOf: async () => builtIn("minimal"), agents: () => agents };
    return (await findNeeds(ports as unknown as NeedPorts, stored, new Map())).map(({ text }) => text).join("\n");
  };
  expect(await told(60_000)).toContain("Log in. That lasts until 1970-01-01 00:01:00 UTC.");
  for (const at of [1e20, Number.NaN, -1]) expect(await told(at)).not.toContain("That lasts");
  expect(await told(undefined, "/events is no plain file.")).toContain(
    "Its events cannot be read: /events is no plain",
  );
  expect(await told(undefined)).toBe("");
});

test("a run is reported when its activity, question or error changes, and not at every check", () => {
  const noticed: string[] = [];
  let look = (_run: string) => {};
  let signs: object = {};
  let trouble: object | undefined;
  const agents = {
    follow(tell: (run: string) => void) {
      look = tell;
      return () => {};
    },
    watchOf: () => ({ run: { task: "t1" }, signs }),
    terminalTrouble: () => trouble,
  } as unknown as Agents;
  noticeRuns(agents, (task) => noticed.push(task));
  const shown = (next: object) => {
    signs = next;
    const before = noticed.length;
    for (const _ of [1, 2]) look("t1/worker#1");
    return noticed.length - before;
  };
  expect(shown({ activity: "busy", what: "reads" })).toBe(1);
  expect(shown({ activity: "busy", what: "writes" })).toBe(0);
  expect(shown({ activity: "asks", what: "May I read?" })).toBe(1);
  expect(shown({ activity: "asks", what: "May I write?" })).toBe(1);
  expect(shown({ activity: "asks", what: "May I write?", error: { kind: "other", message: "No." } })).toBe(1);
  trouble = { reason: "The terminal server has not answered.", fix: "" };
  expect(shown({ activity: "busy", what: "reads" })).toBe(1);
  trouble = undefined;
  expect(shown({ activity: "busy", what: "reads" })).toBe(1);
});
