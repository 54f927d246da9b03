import { expect, test } from "vitest";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import { Fault } from "../../fault.ts";
import type { Note } from "../../ports/system.ts";
import { createUnsavedCall } from "./calls.ts";

const full = new Fault("store.full", "The disk is full.", { hint: "Make room." });
const minute = 60_000;

function stage(settings: { readonly reasons?: readonly string[] } = {}) {
  const clock = createScriptedClock(1_000_000);
  const notes: Note[] = [];
  let failures = 0;
  const phone = {
    async notify(note: Note) {
      if (failures-- > 0) throw new Fault("notifier.failed", "No signal.");
      notes.push(note);
    },
  };
  const call = createUnsavedCall({
    ...{ clock, channels: () => new Map([["phone", phone]]), onError: () => {} },
    settings: () => ({ reasons: [], quiet: "", urgent: [], ...settings }),
  });
  return {
    clock,
    notes,
    call,
    fail: (times: number) => {
      failures = times;
    },
  };
}

test("a person is called once while nothing can be saved, even if a channel fails at first", async () => {
  const { clock, notes, call, fail } = stage();
  fail(2);
  call.changed(full);
  await clock.pass(minute);
  call.changed(full);
  await clock.pass(60 * minute);
  expect(notes).toMatchObject([
    { title: "Signalbox cannot save anything", text: "The disk is full. Make room. → signalbox doctor" },
  ]);
  call.stop();
});

test("a disk that is full for a moment causes no call, and one that is full again soon after a call causes the next one later", async () => {
  const { clock, notes, call } = stage();
  call.changed(full);
  await clock.pass(1_000);
  call.changed(undefined);
  await clock.pass(minute);
  expect(notes).toHaveLength(0);
  call.changed(full);
  await clock.pass(minute);
  call.changed(undefined);
  call.changed(full);
  await clock.pass(10 * minute);
  expect(notes).toHaveLength(1);
  await clock.pass(20 * minute);
  expect(notes).toHaveLength(2);
  call.stop();
});

test("a person who does not want calls for it gets none", async () => {
  const { clock, notes, call } = stage({ reasons: ["approval"] });
  call.changed(full);
  await clock.pass(minute);
  expect(notes).toHaveLength(0);
  call.stop();
});
