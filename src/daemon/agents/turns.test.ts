import { expect, test } from "vitest";
import type { Activity } from "../../engine/reconcile.ts";
import type { Run, StartedRun } from "../../ports/records.ts";
import { turnsAfter, workOf, workTime } from "./turns.ts";

const started = { name: "t-1", mode: "session", at: 1_000 } as StartedRun;
const session = { id: "t/worker#1", endedAt: undefined, started } as Run;

function after(run: Run, ...observed: readonly (readonly [activity: Activity, since: number])[]): Run {
  let known = run;
  for (const [activity, since] of observed) {
    const turns = turnsAfter(known, activity, since);
    if (turns !== undefined) known = { ...known, started: { ...started, turns } };
  }
  return known;
}

test("a session works from its start until it is idle, and again from its next message on; a dialog is no work", () => {
  const run = after(session, ["starting", 1_000], ["busy", 2_000], ["idle", 5_000], ["idle", 5_000], ["busy", 60_000]);
  expect(workOf(run)).toEqual([{ from: 1_000, until: 5_000 }, { from: 60_000 }]);
  expect(workTime(run, 61_000)).toBe(5_000);
  expect(workTime(after(run, ["asks", 62_000]), 99_000)).toBe(6_000);
});

test("a run without a session, and one of an old record, has worked from its start to its end", () => {
  const turn = { ...session, started: { ...started, mode: "turn" }, endedAt: 9_000 } as Run;
  expect(turnsAfter(turn, "idle", 5_000)).toBeUndefined();
  expect(workTime(turn, 99_000)).toBe(8_000);
  expect(workTime({ ...session, endedAt: 4_000 }, 99_000)).toBe(3_000);
});

test("a session of many turns keeps its newest and its longest pauses", () => {
  const observed = Array.from({ length: 300 }, (_, i): (readonly [Activity, number])[] => [
    ["idle", 2_000 + i * 1_000],
    ["busy", 2_000 + i * 1_000 + (i === 7 ? 900 : 100)],
  ]);
  const turns = workOf(after(session, ...observed.flat()));
  expect(turns).toHaveLength(200);
  expect(turns.some(({ from }) => from === 2_000 + 7_900)).toBe(true);
  expect(turns.at(-1)).toEqual({ from: 2_000 + 299_100 });
});
