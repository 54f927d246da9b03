import { expect, test } from "vitest";
import { sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../adapters/store/memory.ts";
import type { Need, NeedReason } from "../../engine/needs.ts";
import { Fault } from "../../fault.ts";
import type { Notifier } from "../../ports/notifier.ts";
import { createScriptedClock } from "../../testing/scripted-clock.ts";
import { createScriptedNotifier } from "../../testing/scripted-notifier.ts";
import { createCalls } from "./calls.ts";

const minute = 60_000;

/** A person whose phone says that it has rung once `rung` is there. */
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
] as const)(
  "a need for %s that a daemon does not see right after its start is called for %d times",
  async ([reason, times]) => {
    const { clock, phone, stored, start } = await stage();
    const first = start();
    await first.recover();
    await first.found(stored, [need(reason)]);
    await clock.pass(10_000);
    expect(phone.notes).toHaveLength(1);
    await first.stop();
    const second = start();
    await second.recover();
    // Agents are only looked at now: nobody can tell yet that one does not wait any more.
    await second.found(stored, []);
    await second.found(stored, [need(reason)]);
    await clock.pass(10 * minute);
    expect(phone.notes).toHaveLength(times);
    await second.stop();
  },
);

test("an agent that needs nobody any more since a start is called for again when it asks again", async () => {
  const { clock, phone, stored, start } = await stage();
  const first = start();
  await first.recover();
  await first.found(stored, [need("agent")]);
  await clock.pass(10_000);
  await first.stop();
  const second = start();
  await second.recover();
  // It was answered while nobody looked, and works from then on.
  await second.found(stored, []);
  await clock.pass(60 * minute);
  expect(phone.notes).toHaveLength(1);
  await second.found(stored, [need("agent")]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(2);
  await second.stop();
});

test("nobody is called for an agent that needs nobody any more since a start", async () => {
  const { clock, phone, stored, start } = await stage();
  const first = start();
  await first.recover();
  await first.found(stored, [need("agent")]);
  // It dies before it has called.
  await first.stop();
  const second = start();
  await second.recover();
  await second.found(stored, []);
  await clock.pass(60 * minute);
  expect(phone.notes).toEqual([]);
  await second.stop();
});

test("a need that has gone while somebody was being told of it is over, and called for again when it comes back", async () => {
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

test("a task that is let go and held again before anybody looks at it is called for again", async () => {
  const { clock, phone, stored, start } = await stage();
  const calls = start();
  await calls.recover();
  await calls.found(stored, [need("held")]);
  await clock.pass(10_000);
  calls.heard({ ...stored.task, entry: 1, held: undefined });
  await calls.found(stored, [need("held")]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(2);
  // What only changes while it is held is the same need.
  calls.heard({ ...stored.task, entry: 1, held: { word: "error", reason: "It is broken.", again: "wait" } });
  await calls.found(stored, [need("held")]);
  await clock.pass(10 * minute);
  expect(phone.notes).toHaveLength(2);
  await calls.stop();
});

test("a limit that holds several tasks is called for once, also where one comes to wait later", async () => {
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

test("a channel that has begun to tell and does not end has told: the call is made once, and the trouble is known", async () => {
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
