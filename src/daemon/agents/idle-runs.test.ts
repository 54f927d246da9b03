import { expect, test } from "vitest";
import { createIdle, type IdlePorts } from "./idle-runs.ts";
import type { RunWatch } from "./watch-run.ts";

test("an agent is reminded after the usual pause, also where the clock was put back in between", async () => {
  let now = 100_000_000;
  const patient: boolean[] = [];
  const idle = createIdle({
    clock: { now: () => now },
    mail: { waits: () => false },
    async submit(_: string, request: { isPatient: boolean }) {
      patient.push(request.isPatient);
      return { decision: { kind: "stayed", events: request.isPatient ? [] : [{ type: "agent.reminded" }] } };
    },
  } as unknown as IdlePorts);
  const watch = { run: { id: "t/worker#1", task: "t", key: "worker#1" }, started: { mode: "session" } };
  const look = (since: number) => idle.noticed({ ...watch, signs: { since } } as unknown as RunWatch);
  await look(now);
  now -= 86_400_000;
  // Since when it is idle is put back with the clock.
  await look(now);
  now += 6 * 60_000;
  await look(now - 6 * 60_000);
  expect(patient).toEqual([false, true, false]);
});
