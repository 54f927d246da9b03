import { expect, test } from "vitest";
import { createScriptedClock } from "../../testing/scripted-clock.ts";
import { createDispatch } from "./dispatch.ts";
import { createSleepers, type SleeperPorts } from "./sleepers.ts";

/** Runs that slept when the daemon before this one died. Everything is paused, so that who asks for a seat is seen waiting. */
function stage(untold: readonly string[]) {
  const clock = createScriptedClock(1_000_000);
  const dispatch = createDispatch({
    clock,
    caps: () => ({ most: 10, perProject: 0, perHarness: {} }),
    rankOf: async () => ({ ways: 1, priority: 0, order: 1 }),
    paused: () => "Everything is paused.",
  });
  const sleepers = createSleepers({
    ...{ clock, dispatch },
    store: { getTask: async () => undefined },
    mail: { untold: async ({ key }: { key: string }) => (untold.includes(key) ? [{}] : []) },
    track: () => {},
  } as unknown as SleeperPorts);
  const takeUp = async (key: string) => {
    const run = { id: `t1/${key}`, key, task: "t1", project: "coffee", harness: "claude" };
    await sleepers.takenUp({ ...run, started: { asleepSince: 1 } } as never);
  };
  return { dispatch, sleepers, takeUp };
}

test("a run that slept when the daemon died is woken by a message that waits for it", async () => {
  const { dispatch, sleepers, takeUp } = stage(["worker#1"]);
  await takeUp("worker#1");
  expect(sleepers.isAsleep("t1/worker#1")).toBe(true);
  expect(dispatch.waiting().map(({ run }) => run)).toEqual(["t1/worker#1"]);
});

test("a run that nobody needs sleeps on after a start", async () => {
  const { dispatch, sleepers, takeUp } = stage([]);
  await takeUp("worker#1");
  expect(sleepers.isAsleep("t1/worker#1")).toBe(true);
  expect(dispatch.waiting()).toEqual([]);
});
