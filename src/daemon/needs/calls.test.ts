import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createScriptedClock, createScriptedNotifier } from "../../../test/scripted-ports.ts";
import type { Need, NeedReason } from "../../engine/needs.ts";
import { Fault } from "../../fault.ts";
import type { Notifier } from "../../ports/system.ts";
import { createCalls } from "./calls.ts";

const minute = 60_000;

/** A person whose phone confirms a note once `rung` resolves. */
async function stage(rung: Promise<void> = Promise.resolve()) {
  const store = createMemoryStore();
  const clock = createScriptedClock(1_000_000);
  const phone = createScriptedNotifier();
  await store.addProject(sampleProject());
  const stored = await store.createTask("coffee", sampleTask("t1"));
  const settings = () => ({ reasons: [], quiet: "", urgent: [] });
  const ringing: Notifier = { notify: (note) => phone.notify(note).then(() => rung) };
  const channels = () => new Map([["phone", ringing]]);
  const start = () =>
    createCalls({
      ...{ store, clock, channels, settings },
      onError: (error) => {
        throw error;
      },
    });
  return { store, clock, phone, stored, start };
}

function need(reason: NeedReason): Need {
  const key = `t1:1:${reason}`;
  return { reason, text: "It waits in a dialog.", fix: "", command: "signalbox task attach t1", since: 5, key };
}

test.for([
  ["agent", 1],
  ["approval", 2],
] as const)("a need for %s that is not seen right after a restart causes %d calls", async ([reason, times]) => {
  const { clock, phone, stored, start } = await stage();
  const first = start();
  await first.recover();
  await first.found(stored, [need(reason)]);
  await clock.pass(10_000);
  expect(phone.notes).toHaveLength(1);
  await first.stop();
  const second = start();
  await second.recover();
  // Agents are only being checked now, so a missing need proves nothing yet.
  await second.found(stored, []);
  await second.found(stored, [need(reason)]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(times);
  await second.stop();
});

test("an agent whose need ended during a restart causes another call when it asks again", async () => {
  const { clock, phone, stored, start } = await stage();
  const first = start();
  await first.recover();
  await first.found(stored, [need("agent")]);
  await clock.pass(10_000);
  await first.stop();
  const second = start();
  await second.recover();
  // It was answered while no daemon was running, and works from then on.
  await second.found(stored, []);
  await clock.pass(60 * minute);
  expect(phone.notes).toHaveLength(1);
  await second.found(stored, [need("agent")]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(2);
  await second.stop();
});

test("a need that ended during a restart causes no call", async () => {
  const { clock, phone, stored, start } = await stage();
  const first = start();
  await first.recover();
  await first.found(stored, [need("agent")]);
  // The daemon dies before the call.
  await first.stop();
  const second = start();
  await second.recover();
  await second.found(stored, []);
  await clock.pass(60 * minute);
  expect(phone.notes).toEqual([]);
  await second.stop();
});

test("a need that ends while its call is being made is over, and causes another call when it comes back", async () => {
  const rung = Promise.withResolvers<void>();
  const { store, clock, phone, stored, start } = await stage(rung.promise);
  const calls = start();
  await calls.recover();
  await calls.found(stored, [need("approval")]);
  await clock.pass(10_000);
  expect(phone.notes).toHaveLength(1);
  await calls.found(stored, []);
  rung.resolve();
  await clock.pass(0);
  expect(await store.calls.list({})).toMatchObject([{ state: "called", overAt: expect.any(Number) }]);
  await calls.found(stored, [need("approval")]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(2);
  await calls.stop();
});

test("a need that is back before its first call was made to the end causes a call of its own", async () => {
  const rung = Promise.withResolvers<void>();
  const { store, clock, phone, stored, start } = await stage(rung.promise);
  const calls = start();
  await calls.recover();
  await calls.found(stored, [need("approval")]);
  await clock.pass(10_000);
  expect(phone.notes).toHaveLength(1);
  await calls.found(stored, []);
  await calls.found(stored, [need("approval")]);
  rung.resolve();
  await clock.pass(0);
  expect(await store.calls.list({})).toMatchObject([{ state: "waits", episode: 2 }]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(2);
  await calls.stop();
});

test("a task that is released and held again between two checks causes another call", async () => {
  const { clock, phone, stored, start } = await stage();
  const calls = start();
  await calls.recover();
  await calls.found(stored, [need("held")]);
  await clock.pass(10_000);
  calls.heard({ ...stored.task, entry: 1, held: undefined });
  await calls.found(stored, [need("held")]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(2);
  // A hold whose details change is still the same need.
  calls.heard({ ...stored.task, entry: 1, held: { word: "error", reason: "It is broken.", again: "wait" } });
  await calls.found(stored, [need("held")]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(2);
  await calls.stop();
});

test("a limit that holds up several tasks causes one call, even if a task joins later", async () => {
  const { store, clock, phone, stored, start } = await stage();
  const other = await store.createTask("coffee", sampleTask("t2"));
  const calls = start();
  await calls.recover();
  await calls.found(stored, [need("limit")]);
  await clock.pass(10 * minute);
  await calls.found(other, [{ ...need("limit"), key: "t2:1:limit" }]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(1);
  await calls.found(other, [{ ...need("limit"), key: "t2:1:limit", text: "Another one." }]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(1);
  await calls.stop();
});

test("a channel that times out counts as delivered: the call is made once, and the problem is listed", async () => {
  const slow = Promise.reject(new Fault("notifier.slow", "The command did not end."));
  slow.catch(() => {});
  const { clock, phone, stored, start } = await stage(slow);
  const calls = start();
  await calls.recover();
  await calls.found(stored, [need("approval")]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(1);
  expect(calls.problems()).toMatchObject([{ channel: "phone", problem: "The command did not end." }]);
  await calls.stop();
});
