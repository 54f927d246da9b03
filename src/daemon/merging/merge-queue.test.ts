import { expect, test } from "vitest";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { Fault } from "../../fault.ts";
import { createMergeQueue, type Entry, type Outcome, outcomeOf, refused, type Waiting } from "./merge-queue.ts";

const entry: Entry = { task: "t1", project: "coffee", target: "main", strategy: "merge", at: 0, stay: 0, priority: 0 };
const merged: Outcome = { kind: "merged", commit: "aaa", before: "bbb", after: "ccc" };
const waiting: Waiting = { kind: "waits", reason: "The disk is full.", files: [] };

const gone = refused("It has moved on.");

function start(outcomeOf: (entry: Entry) => Outcome, isPaused: (entry: Entry) => boolean = () => false) {
  const scripted = createScriptedClock();
  const told: string[] = [];
  const world = { told, skew: 0, tellFails: false, gone: new Set<string>(), lands: 0, pass: scripted.pass };
  const queue = createMergeQueue({
    clock: { now: () => scripted.now() + world.skew, after: scripted.after },
    async land(_project, _target, entries) {
      world.lands++;
      return new Map(entries.map((each) => [each, outcomeOf(each)]));
    },
    unwanted: async ({ task }) => (world.gone.has(task) ? gone : undefined),
    async waits({ task }) {
      if (world.tellFails) throw new Error("The disk is full.");
      told.push(task);
    },
    onError: () => undefined,
    isPaused,
  });
  return Object.assign(world, { queue });
}

test("a clock that is set back does not delay the queue", async () => {
  let outcome: Outcome = waiting;
  const line = start(() => outcome);
  const landing = line.queue.add(entry);
  await line.pass(100);
  line.skew = -7_200_000;
  outcome = merged;
  await line.pass(1_000);
  expect(line.queue.before("t1")).toBeUndefined();
  expect(await landing).toEqual(merged);
});

test("a reason that could not be reported is reported with the next retry, and the other entries continue meanwhile", async () => {
  const line = start(({ task }) => (task === "t1" ? waiting : merged));
  line.tellFails = true;
  void line.queue.add(entry);
  const landing = line.queue.add({ ...entry, task: "t2", at: 1 });
  await line.pass(100);
  expect(await landing).toEqual(merged);
  expect(line.lands).toBeLessThan(4);
  line.tellFails = false;
  await line.pass(20_000);
  expect(line.told).toEqual(["t1"]);
});

test("work that is merged although its task has moved on is reported as merged; a waiting entry leaves the queue unreported", async () => {
  const line = start(({ task }) => {
    // The task moves on while it is being merged.
    line.gone.add(task);
    line.queue.remove(task, gone);
    return task === "t1" ? merged : waiting;
  });
  const [first, second] = [line.queue.add(entry), line.queue.add({ ...entry, task: "t2", at: 1 })];
  await line.pass(100);
  expect(await first).toEqual(merged);
  expect(await second).toEqual(gone);
  expect(line.told).toEqual([]);
  expect([line.queue.before("t1"), line.queue.before("t2")]).toEqual([undefined, undefined]);
});

test("tests that were stopped because a task is cancelled are run again for the others, and no wait is reported", async () => {
  const stopped = new Fault("command.stopped", "npm test was stopped.", { retry: "later" });
  let isStopped = true;
  const line = start(() => (isStopped ? outcomeOf(stopped) : merged));
  const [first, second] = [line.queue.add(entry), line.queue.add({ ...entry, task: "t2", at: 1 })];
  await line.pass(100);
  line.queue.remove("t1", gone);
  isStopped = false;
  await line.pass(1_000);
  expect([await first, await second, line.told]).toEqual([gone, merged, []]);
});

test("an entry that is removed from the queue before its turn is not merged", async () => {
  const line = start(() => waiting);
  const landing = line.queue.add(entry);
  await line.pass(100);
  line.queue.remove("t1", gone);
  expect(await landing).toMatchObject({ kind: "refused" });
  await line.pass(60_000);
  expect(line.lands).toBe(1);
});

test("an entry of higher priority comes first, but a priority is worth no more than five minutes of waiting", async () => {
  const order: string[] = [];
  const line = start(({ task }) => {
    order.push(task);
    return merged;
  });
  const minute = 60_000;
  const entries = [
    { ...entry, task: "old", at: 0 },
    { ...entry, task: "usual", at: 6 * minute },
    { ...entry, task: "urgent", at: 10 * minute, priority: 1 },
  ];
  // The first entry is merged immediately; the others are queued by the time it is done.
  void line.queue.add({ ...entry, task: "first" });
  await Promise.all(entries.toReversed().map((each) => line.queue.add(each)));
  expect(order).toEqual(["first", "old", "urgent", "usual"]);
});

test("a merge that waits for the end of a pause stays queued, and a person's merge does not", async () => {
  let isPaused = true;
  const line = start(
    () => merged,
    ({ pausable }) => pausable !== undefined && isPaused,
  );
  let landed = false;
  const workflows = line.queue.add({ ...entry, pausable: {} }).then(() => {
    landed = true;
  });
  const asked = line.queue.add({ ...entry, task: "t2", at: 1 });
  await line.pass(60_000);
  expect(await asked).toEqual(merged);
  expect([landed, line.lands]).toEqual([false, 1]);
  isPaused = false;
  line.queue.resumed();
  await workflows;
  expect(line.lands).toBe(2);
});

test("a waiting entry is tried again at once when that is asked for", async () => {
  let outcome: Outcome = waiting;
  const line = start(() => outcome);
  const landing = line.queue.add(entry);
  await line.pass(5_000);
  const before = line.lands;
  outcome = merged;
  await line.queue.tryAgain("t1");
  expect(await landing).toEqual(merged);
  expect(line.lands).toBe(before + 1);
  await line.queue.tryAgain("t1");
});
