import { expect, test } from "vitest";
import { createIdle, type IdlePorts } from "./sleepers.ts";
import type { RunWatch } from "./watch-run.ts";

const nothingElse = {
  mail: { waits: () => false, toldAt: () => undefined, untold: async () => [] },
  store: { openEffects: async () => [] },
};

test("a quiet agent gets no second reminder while the first is on its way, nor for a while after it has arrived", async () => {
  let now = 100_000_000;
  let toldAt: number | undefined;
  let owed: object[] = [];
  let untold: object[] = [];
  const patient: boolean[] = [];
  const idle = createIdle({
    clock: { now: () => now },
    mail: { waits: () => false, toldAt: () => toldAt, untold: async () => untold },
    store: { openEffects: async () => owed },
    async submit(_: string, request: { isPatient: boolean }) {
      patient.push(request.isPatient);
      return { decision: { kind: "stayed", events: request.isPatient ? [] : [{ type: "agent.reminded" }] } };
    },
  } as unknown as IdlePorts);
  const watch = { run: { id: "t/reviewer#1", task: "t", key: "reviewer#1" }, started: { mode: "session" } };
  const since = now;
  const look = (minutes: number) => {
    now = 100_000_000 + minutes * 60_000;
    return idle.noticed({ ...watch, signs: { since } } as unknown as RunWatch);
  };
  await look(0);
  owed = [{ state: "owed", effect: { action: "notify_agent", agent: { run: "reviewer#1" } } }];
  await look(6);
  owed = [];
  untold = [{}];
  await look(12);
  untold = [];
  toldAt = 100_000_000 + 17 * 60_000;
  await look(18);
  await look(24);
  expect(patient).toEqual([false, true, true, true, false]);
});

test("an agent is reminded after the usual pause, even if the clock was set back in between", async () => {
  let now = 100_000_000;
  const patient: boolean[] = [];
  const idle = createIdle({
    clock: { now: () => now },
    ...nothingElse,
    async submit(_: string, request: { isPatient: boolean }) {
      patient.push(request.isPatient);
      return { decision: { kind: "stayed", events: request.isPatient ? [] : [{ type: "agent.reminded" }] } };
    },
  } as unknown as IdlePorts);
  const watch = { run: { id: "t/worker#1", task: "t", key: "worker#1" }, started: { mode: "session" } };
  const look = (since: number) => idle.noticed({ ...watch, signs: { since } } as unknown as RunWatch);
  await look(now);
  now -= 86_400_000;
  // The time since when it is idle is set back with the clock.
  await look(now);
  now += 6 * 60_000;
  await look(now - 6 * 60_000);
  expect(patient).toEqual([false, true, false]);
});

test("a session continues once a person has lifted the limit that stopped it, and not before", async () => {
  let lifted: number | undefined;
  const limited: number[] = [];
  const told: string[] = [];
  const idle = createIdle({
    clock: { now: () => 2_000 },
    mail: { waits: () => false, tell: async (_: unknown, text: string) => void told.push(text) },
    dispatch: { liftedAt: () => lifted, limit: (_: string, until: number) => limited.push(until) },
  } as unknown as IdlePorts);
  const look = (resetAt: number) =>
    idle.noticed({
      ...{ run: { id: "t/worker#1", task: "t", key: "worker#1" }, started: { mode: "session" } },
      harness: { name: "claude", title: "Claude Code" },
      signs: { since: 1_000, error: { kind: "rate-limit", message: "No more", resetAt } },
    } as unknown as RunWatch);
  await look(90_000_000);
  await look(87_600 * 3_600_000);
  expect(limited).toEqual([90_000_000, 301_000]);
  lifted = 1_500;
  await look(90_000_000);
  expect(limited).toHaveLength(2);
  expect(told).toEqual(["The provider's limit is over. Continue your work."]);
});

test("a restart of the daemon gives a quiet agent no more time: its pause is counted from its last message", async () => {
  const now = 100_000_000;
  const patient: boolean[] = [];
  const ports = {
    ...nothingElse,
    clock: { now: () => now },
    async submit(_: string, request: { isPatient: boolean }) {
      patient.push(request.isPatient);
      return { decision: { kind: "stayed", events: [] } };
    },
  } as unknown as IdlePorts;
  const watch = { run: { id: "t/worker#1", task: "t", key: "worker#1" }, started: { mode: "session" } };
  for (const toldAt of [now - 6 * 60_000, now - 60_000]) {
    const idle = createIdle(ports);
    idle.adopted("t/worker#1", toldAt);
    await idle.noticed({ ...watch, signs: { since: toldAt } } as unknown as RunWatch);
  }
  expect(patient).toEqual([false, true]);
});
