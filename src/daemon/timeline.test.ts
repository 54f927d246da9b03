import { expect, test } from "vitest";
import { type Life, type LifeEvent, stretchesOf } from "./timeline.ts";

const at = (minute: number) => minute * 60_000;
const event = (minute: number, type: string, data: Record<string, unknown> = {}): LifeEvent => ({
  ...{ type, data },
  at: at(minute),
});
const kinds: Record<string, ReturnType<Life["kindOf"]>> = {
  ...{ pending: "slot", review: "human", talk: "other", done: "end" },
};
const life = (events: readonly LifeEvent[], more: Partial<Life> = {}): Life => ({
  ...{ createdAt: at(0), events: [event(0, "task.created", { status: "pending" }), ...events], runs: [] },
  ...{ needSince: undefined, kindOf: (state) => kinds[state] ?? "other" },
  ...more,
});
const run = (key: string, asked: number, started: number, ended?: number, cost?: number) => ({
  ...{ key, askedAt: at(asked), startedAt: at(started), cost },
  work: [{ from: at(started), ...(ended === undefined ? {} : { until: at(ended) }) }],
});
const told = (each: Life, now: number) =>
  stretchesOf(each, at(now)).map(
    ({ kind, state, from, until }) => `${from / 60_000}-${until / 60_000} ${kind} ${state}`,
  );

test("waiting for a slot or a seat, working, and waiting for a person are told apart, until the end", () => {
  const events = [
    event(10, "task.moved", { to: "plan" }),
    event(30, "task.moved", { to: "review" }),
    event(90, "task.moved", { to: "done" }),
  ];
  expect(told(life(events, { runs: [run("worker#1", 10, 12, 30)] }), 500)).toEqual([
    "0-10 queued pending",
    "10-12 queued plan",
    "12-30 working plan",
    "30-90 me review",
  ]);
});

test("an agent that stays open while a person is waited for does not count as work, and its cost is not spread over it", () => {
  const events = [event(0, "task.moved", { to: "plan" }), event(10, "task.moved", { to: "review" })];
  const all = stretchesOf(
    life([...events, event(30, "task.moved", { to: "plan" })], { runs: [run("worker#1", 0, 0, undefined, 4)] }),
    at(40),
  );
  expect(all.map(({ kind, cost }) => [kind, cost])).toEqual([
    ["working", 2],
    ["me", undefined],
    ["working", 2],
  ]);
});

test("a session that waits for its next message does no work, also while another run waits for its seat", () => {
  const worker = { ...run("worker#1", 0, 0), work: [{ from: at(0), until: at(8) }, { from: at(25) }] };
  const events = [event(0, "task.moved", { to: "plan" }), event(10, "task.moved", { to: "judge" })];
  expect(told(life(events, { runs: [worker, run("reviewer#2", 10, 15, 20)] }), 30)).toEqual([
    "0-8 working plan",
    "8-10 idle plan",
    "10-15 queued judge",
    "15-20 working judge",
    "20-25 idle judge",
    "25-30 working judge",
  ]);
});

test("what waited for a person is shown so after it was left, whatever its agent did meanwhile", () => {
  const events = [
    event(0, "task.moved", { to: "plan" }),
    event(3, "message.undelivered"),
    event(5, "message.delivered"),
    event(10, "task.moved", { to: "review" }),
    event(20, "task.moved", { to: "plan" }),
    event(21, "merge.asked"),
    event(22, "merge.waits"),
    event(24, "merge.landed"),
  ];
  expect(told(life(events, { runs: [run("worker#1", 0, 0)] }), 30)).toEqual([
    "0-3 working plan",
    "3-5 me plan",
    "5-10 working plan",
    "10-20 me review",
    "20-21 working plan",
    "21-22 queued plan",
    "22-24 me plan",
    "24-30 working plan",
  ]);
});

test("a run without a known cost is counted as unknown, and not as nothing", () => {
  const [stretch] = stretchesOf(
    life([event(0, "task.moved", { to: "plan" })], {
      runs: [run("a#1", 0, 0, undefined), run("b#1", 0, 0, undefined, 1)],
    }),
    at(10),
  );
  expect(stretch).toMatchObject({ kind: "working", runs: ["a#1", "b#1"], cost: 1, unknown: 1 });
});

test("a task that is held, or whose agent asks, waits for a person until that is over", () => {
  const events = [
    event(0, "task.moved", { to: "talk" }),
    event(5, "dialogue.asked"),
    event(8, "dialogue.answered"),
    event(20, "task.held", { word: "crash" }),
    event(25, "task.continued"),
  ];
  expect(told(life(events, { runs: [run("worker#1", 0, 0, 20)] }), 30)).toEqual([
    "0-5 working talk",
    "5-8 me talk",
    "8-20 working talk",
    "20-25 me talk",
    "25-30 idle talk",
  ]);
  expect(told(life([event(0, "task.moved", { to: "plan" })], { needSince: at(7) }), 9)).toEqual([
    "0-7 idle plan",
    "7-9 me plan",
  ]);
});

test("a sleeping agent does no work, and a merge in the queue waits for the machine also in a state of a person", () => {
  const sleeping = [
    event(0, "task.moved", { to: "plan" }),
    event(5, "agent.slept", { run: "worker#1" }),
    event(9, "agent.woken", { run: "worker#1" }),
  ];
  expect(told(life(sleeping, { runs: [run("worker#1", 0, 0)] }), 12)).toEqual([
    "0-5 working plan",
    "5-9 idle plan",
    "9-12 working plan",
  ]);
  const merging = [event(0, "task.moved", { to: "review" }), event(4, "merge.asked"), event(6, "merge.landed")];
  expect(told(life(merging), 7)).toEqual(["0-4 me review", "4-6 queued review", "6-7 me review"]);
});
