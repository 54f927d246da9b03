import { expect, test } from "vitest";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { homePlaces } from "../../home/places.ts";
import type { Run } from "../../ports/records.ts";
import { type BrakePorts, createBrake } from "./brake.ts";

const runOf = (id: string, change: object = {}) =>
  ({ id, task: "t1", started: { name: id, mode: "session" }, ...change }) as unknown as Run;

/** Two runs that are recorded, and one that is only watched. */
function stage(change: Partial<BrakePorts> = {}) {
  const clock = createScriptedClock();
  const closed: string[] = [];
  const errors: unknown[] = [];
  const ports = {
    clock,
    places: homePlaces("/home/ada/.signalbox"),
    store: { liveRuns: async () => [runOf("one"), runOf("two"), runOf("never", { started: undefined })] },
    known: () => [runOf("two", { pid: 7 }), runOf("three")],
    note: async () => {},
    onError: (error: unknown) => void errors.push(error),
    terminal: {
      async close(name: string) {
        if (name === "two") throw new Error("It does not end.");
        closed.push(name);
      },
    },
    processes: { sweep: async () => false },
    ...change,
  } as unknown as BrakePorts;
  return { clock, closed, errors, brake: createBrake(ports) };
}

const ending = { word: "lost", reason: "" } as const;

test("every started run is listed once, whether it is recorded, watched or both, even if the store is broken", async () => {
  const { brake } = stage();
  expect((await brake.runsOf(() => true)).map(({ id, pid }) => [id, pid])).toEqual([
    ["one", undefined],
    ["two", 7],
    ["three", undefined],
  ]);
  const broken = stage({ store: { liveRuns: () => Promise.reject(new Error("full")) } as never });
  expect((await broken.brake.runsOf(() => true)).map(({ id }) => id)).toEqual(["two", "three"]);
  expect(broken.errors).toHaveLength(1);
});

test("a program that cannot be ended is reported and keeps no other alive; until the brake is released no end is judged", async () => {
  const { brake, closed } = stage();
  const runs = await brake.runsOf(() => true);
  const told = await brake.hold(runs, ending, async (halted) => {
    expect([closed, brake.isOn("one"), brake.isOn("two")]).toEqual([["one", "three"], true, true]);
    return halted.map(({ run, problem }) => [run.id, problem]);
  });
  expect(told).toEqual([
    ["one", ""],
    ["two", "It does not end."],
    ["three", ""],
  ]);
  expect([brake.isOn("one"), brake.isOn("two")]).toEqual([false, false]);
});

const nothing = async () => {};

test("no program is started for a run that a person is ending, nor for a task that one is cancelling", async () => {
  const { brake } = stage();
  const opened: string[] = [];
  const open = (id: string) => brake.unlessHeld(runOf(id), async () => void opened.push(id));
  await brake.hold([runOf("one")], ending, async () => {
    await expect(open("one")).rejects.toMatchObject({ code: "agents.superseded" });
    await open("four");
  });
  await brake.holdTasks(new Set(["t1"]), ending, () => expect(open("four")).rejects.toThrow("no longer wants"));
  await open("one");
  expect(opened).toEqual(["four", "one"]);
});

test("a program that is being started when a person ends its run is ended, even if the brake is released before", async () => {
  const { brake, closed } = stage({ known: () => [], store: { liveRuns: async () => [] } as never });
  const gate = Promise.withResolvers<void>();
  const started = brake.unlessHeld(runOf("one"), () => gate.promise);
  const prepared = brake.unlessHeld(runOf("four"), async (check) => {
    await gate.promise;
    check();
    closed.push("four was opened");
  });
  const other = brake.unlessHeld(runOf("five", { task: "t2" }), () => gate.promise);
  await brake.holdTasks(new Set(["t1"]), ending, nothing);
  gate.resolve();
  await expect(started).rejects.toMatchObject({ code: "agents.superseded", retry: "later" });
  await expect(prepared).rejects.toMatchObject({ code: "agents.superseded" });
  await other;
  expect(closed).toEqual(["one"]);
});

test("the release of the last brake is awaited, of the run and of its task", async () => {
  const { brake } = stage();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holds = [
    brake.hold([runOf("one")], ending, () => first.promise),
    brake.holdTasks(new Set(["t1"]), ending, () => second.promise),
  ];
  let isReleased = false;
  const released = brake.released(runOf("one")).then(() => {
    isReleased = true;
  });
  first.resolve();
  await holds[0];
  expect(isReleased).toBe(false);
  second.resolve();
  await Promise.all([...holds, released]);
  await brake.released(runOf("two"));
});

test("a store that does not answer delays the end of a program by at most a second", async () => {
  const { brake, clock, closed } = stage({ note: () => new Promise(() => {}) });
  const held = brake.hold([runOf("one")], ending, async () => "over");
  await clock.pass(999);
  expect(closed).toEqual([]);
  await clock.pass(1);
  expect([await held, closed]).toEqual(["over", ["one"]]);
});
