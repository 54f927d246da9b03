import { expect, test } from "vitest";
import { createScriptedClock } from "../../testing/scripted-clock.ts";
import type { Entry, Outcome, Waiting } from "./entry.ts";
import { createMergeQueue } from "./merge-queue.ts";

const entry: Entry = { task: "t1", project: "coffee", target: "main", strategy: "merge", at: 0, priority: 0 };
const merged: Outcome = { kind: "merged", commit: "aaa", before: "bbb", after: "ccc" };
const waiting: Waiting = { kind: "waits", reason: "The disk is full.", files: [] };

function start(outcomeOf: (entry: Entry) => Outcome, isPaused = () => false) {
  const scripted = createScriptedClock();
  const told: string[] = [];
  const world = { told, skew: 0, tellFails: false, lands: 0, pass: scripted.pass };
  const queue = createMergeQueue({
    clock: { now: () => scripted.now() + world.skew, after: scripted.after },
    async land(_project, _target, entries) {
      world.lands++;
      return new Map(entries.map((each) => [each, outcomeOf(each)]));
    },
    async waits({ task }) {
      if (world.tellFails) throw new Error("The disk is full.");
      told.push(task);
    },
    onError: () => undefined,
    isPaused,
  });
  return Object.assign(world, { queue });
}

test("a clock that is set back keeps nobody in line waiting", async () => {
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

test("what could not be told is told with the next try, after a pause, and the others in line have their turn meanwhile", async () => {
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

test("what arrives although nobody wants it any more is told as arrived, so that it can be taken back; the rest is not wanted", async () => {
  const line = start(({ task }) => {
    // The task moves on while it is being merged.
    line.queue.remove(task);
    return task === "t1" ? merged : { kind: "again" };
  });
  const [first, second] = [line.queue.add(entry), line.queue.add({ ...entry, task: "t2", at: 1 })];
  await line.pass(100);
  expect(await first).toEqual(merged);
  expect(await second).toMatchObject({ kind: "refused", reason: "It is not to be merged any more." });
  expect([line.queue.before("t1"), line.queue.before("t2")]).toEqual([undefined, undefined]);
});

test("what is taken out of the line before its turn is not merged", async () => {
  const line = start(() => waiting);
  const landing = line.queue.add(entry);
  await line.pass(100);
  line.queue.remove("t1");
  expect(await landing).toMatchObject({ kind: "refused" });
  await line.pass(60_000);
  expect(line.lands).toBe(1);
});

test("who is more urgent comes first, but a priority is worth no more than five minutes of waiting", async () => {
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
  // The first one that comes is taken at once; the others are there when it is done.
  void line.queue.add({ ...entry, task: "first" });
  await Promise.all(entries.toReversed().map((each) => line.queue.add(each)));
  expect(order).toEqual(["first", "old", "urgent", "usual"]);
});

test("what only a workflow wants stays in line while its project is paused, and what somebody asked for does not", async () => {
  let isPaused = true;
  const line = start(
    () => merged,
    () => isPaused,
  );
  let landed = false;
  const workflows = line.queue.add({ ...entry, isWorkflows: true }).then(() => {
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
