import { expect, test } from "vitest";
import type { CorePorts } from "../../src/daemon/core-ports.ts";
import { Fault } from "../../src/fault.ts";
import type { Store } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { createScriptedNotifier, type ScriptedClock } from "../scripted-ports.ts";
import { coreStage } from "./core-stage.ts";

const waits = `
version: 1
states:
  taste: { waits_for: human, ask: Taste it, next: drink }
  drink: { waits_for: human, ask: Drink it, next: done }
  done: { terminal: true }
`;

const queue = `
version: 1
states:
  todo: { waits_for: slot, next: taste }
  taste: { waits_for: human, ask: Taste it, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human }]
`;

/** A core that calls its person through one recording channel. */
async function stage(
  values: object = {},
  store: Store = createMemoryStore(),
  text = waits,
  before: (clock: ScriptedClock) => void = () => {},
) {
  const phone = createScriptedNotifier();
  const more: Partial<CorePorts> = {
    channels: () => new Map([["phone", phone]]),
    config: () => ({ values, problems: [] }),
  };
  const core = await coreStage(text, 50, store, (clock) => {
    before(clock);
    return more;
  });
  const calledFor = async (task: string) =>
    (await core.core.store.listEvents({ task }, 0, 100)).filter(({ event }) => event.type === "person.called");
  return { ...core, phone, calledFor, go: (task: string) => core.core.submit(task, human) };
}

const human = { kind: "continue", actor: { role: "human" } } as const;

test("a task that begins to need a person is one call, with its reason and the command", async () => {
  const { create, rest, phone, calledFor } = await stage();
  await create("t1");
  await rest(10_000);
  await rest(600_000);
  expect(phone.notes).toHaveLength(1);
  expect(phone.notes[0]).toMatchObject({
    title: "coffee#1 needs you: Brew",
    text: "Taste it → signalbox task approve t1",
    needs: [{ task: "t1", name: "coffee#1", reason: "approval", command: "signalbox task approve t1" }],
  });
  const [event, ...others] = await calledFor("t1");
  expect(others).toEqual([]);
  expect(event?.event.data).toMatchObject({ reason: "approval", text: "Taste it", call: phone.notes[0]?.key });
});

test("each stay of a task is a call of its own", async () => {
  const { create, rest, phone, go } = await stage();
  await create("t1");
  await rest(10_000);
  await go("t1");
  await rest(10_000);
  expect(phone.notes.map(({ text }) => text.split(" →")[0])).toEqual(["Taste it", "Drink it"]);
  expect(new Set(phone.notes.map(({ key }) => key)).size).toBe(2);
});

test("a need that disappears within seconds causes no call", async () => {
  const { create, rest, phone, go } = await stage();
  await create("t1");
  await rest(1_000);
  await go("t1");
  await go("t1");
  await rest(60_000);
  expect(phone.notes).toEqual([]);
});

test("a daemon that dies before the call makes it once, and one that dies after it makes none", async () => {
  const store = createMemoryStore();
  const first = await stage({}, store);
  await first.create("t1");
  await first.rest(1_000);
  await first.core.close();
  const second = await stage({}, store);
  await second.rest(10_000);
  expect(second.phone.notes).toHaveLength(1);
  await second.core.close();
  const third = await stage({}, store);
  await third.rest(600_000);
  expect(third.phone.notes).toEqual([]);
});

test("a daemon that reads its tasks slowly makes no call a second time", async () => {
  const store = createMemoryStore();
  const first = await stage({}, store);
  await first.create("t1");
  await first.rest(10_000);
  expect(first.phone.notes).toHaveLength(1);
  await first.core.close();
  const slow: Store = { ...store };
  const second = await stage({}, slow, waits, (clock) => {
    // The first page comes immediately, and the next one only after a second.
    slow.listTasks = async (filter, page) => {
      if (filter.isOpen === true && page?.before !== undefined) await clock.pass(1_000);
      return store.listTasks(filter, page);
    };
  });
  await second.rest(600_000);
  expect(second.phone.notes).toEqual([]);
});

test("a daemon that dies while it calls makes the call at most once more, with the same key", async () => {
  const store = createMemoryStore();
  const first = await stage({}, store);
  const keys: string[] = [];
  await first.create("t1");
  await first.rest(1_000);
  // The channel was called, but the call was not recorded.
  const dying = { ...store, calls: { ...store.calls, put: store.calls.put } };
  const second = await stage(
    {},
    {
      ...dying,
      calls: {
        ...store.calls,
        async put(call) {
          if (call.channels.phone?.state === "told")
            throw new Fault("store.full", "The disk is full.", { retry: "later" });
          await store.calls.put(call);
        },
      },
    },
  );
  await first.core.close();
  await second.rest(4_000);
  keys.push(...second.phone.notes.map(({ key }) => key));
  await second.core.close();
  const third = await stage({}, store);
  await third.rest(10_000);
  keys.push(...third.phone.notes.map(({ key }) => key));
  expect(third.phone.notes).toHaveLength(1);
  expect(new Set(keys).size).toBe(1);
});

test("ten tasks that need a person for the same cause are one call, and many causes together are one summary", async () => {
  const { create, rest, phone, calledFor } = await stage();
  for (let i = 1; i <= 10; i++) await create(`t${i}`);
  await rest(60_000);
  expect(phone.notes).toHaveLength(1);
  expect(phone.notes[0]).toMatchObject({ title: "10 tasks need you", task: "" });
  expect(phone.notes[0]?.text).toContain("Taste it (coffee#1, coffee#2");
  expect(phone.notes[0]?.needs).toHaveLength(10);
  for (let i = 1; i <= 10; i++) expect(await calledFor(`t${i}`)).toHaveLength(1);
});

test("after three calls in a minute, further calls are combined into one", async () => {
  const { create, rest, phone } = await stage();
  for (let i = 1; i <= 9; i++) {
    await create(`t${i}`);
    await rest(5_000);
  }
  await rest(120_000);
  expect(phone.notes.length).toBeLessThanOrEqual(4);
  expect(phone.notes.flatMap(({ needs = [] }) => needs.map(({ task }) => task)).sort()).toEqual(
    Array.from({ length: 9 }, (_, i) => `t${i + 1}`),
  );
});

test("a call is made only for the configured reasons", async () => {
  const { create, rest, phone, calledFor } = await stage({ notifyReasons: ["held"] });
  await create("t1");
  await rest(600_000);
  expect(phone.notes).toEqual([]);
  expect(await calledFor("t1")).toEqual([]);
});

test("in quiet hours no call is made, and the needs are reported in one call when they end", async () => {
  // The scripted clock begins 1,000 s after the epoch, whatever local time that is.
  const hour = new Date(1_000_000).getHours();
  const quiet = `${hour}:00-${(hour + 1) % 24}:00`;
  const { create, rest, phone } = await stage({ notifyQuiet: quiet });
  for (const id of ["t1", "t2"]) {
    await create(id);
    await rest(60_000);
  }
  expect(phone.notes).toEqual([]);
  await rest(3_600_000);
  expect(phone.notes.map(({ title }) => title)).toEqual(["2 tasks need you"]);
  await rest(3_600_000);
  expect(phone.notes).toHaveLength(1);
});

test("an urgent reason causes a call in quiet hours too", async () => {
  const { create, rest, phone } = await stage({ notifyQuiet: "0:00-23:59", notifyUrgent: ["approval"] });
  await create("t1");
  await rest(60_000);
  expect(phone.notes).toHaveLength(1);
});

test("a failing channel is retried a few times, holds no task, and is shown", async () => {
  const { create, rest, phone, core, go, statuses } = await stage();
  phone.failWith(...Array.from({ length: 9 }, () => new Fault("notifier.refused", "It is down.", { retry: "later" })));
  await create("t1");
  await rest(3_600_000);
  expect(phone.notes).toHaveLength(5);
  expect(new Set(phone.notes.map(({ key }) => key)).size).toBe(1);
  expect(core.calls.problems()).toMatchObject([{ channel: "phone", problem: "It is down." }]);
  await go("t1");
  expect(await statuses("t1")).toEqual(["drink"]);
  phone.failWith();
  await rest(60_000);
  expect(core.calls.problems()).toEqual([]);
});

test("a channel that cannot be started is retried too, and its tasks are named until they need no person", async () => {
  const { create, rest, phone, core, go } = await stage();
  const missing = new Fault("command.not-started", "There is no such program.");
  phone.failWith(missing, missing);
  await create("t1");
  await rest(60_000);
  expect(phone.notes).toHaveLength(3);
  expect(core.calls.undelivered()).toEqual(new Map());
  phone.failWith(...Array.from({ length: 5 }, () => missing));
  await create("t2");
  await rest(600_000);
  expect(phone.notes).toHaveLength(8);
  expect(core.calls.undelivered()).toEqual(new Map([["phone", ["t2"]]]));
  await go("t2");
  await rest(60_000);
  expect(core.calls.undelivered()).toEqual(new Map());
});

test("a call that could not be stored is stored later, and made once", async () => {
  const store = createMemoryStore();
  let refusals = 2;
  const full: Store = {
    ...store,
    calls: {
      ...store.calls,
      async put(call) {
        if (refusals-- > 0) throw new Fault("store.full", "The disk is full.", { retry: "later" });
        await store.calls.put(call);
      },
    },
  };
  const { create, rest, phone } = await stage({}, full);
  await create("t1");
  await rest(1_000);
  expect([phone.notes, refusals]).toEqual([[], 1]);
  for (const _ of [1, 2, 3]) await rest(10_000);
  expect(phone.notes).toHaveLength(1);
});

test("a call that cannot be recorded in the history is recorded there later, however long that takes", async () => {
  const store = createMemoryStore();
  let isFull = true;
  const full: Store = {
    ...store,
    async addEvents(...given) {
      const [, events] = given;
      if (isFull && events.some(({ type }) => type === "person.called"))
        throw new Fault("store.lost", "The file was deleted.");
      return store.addEvents(...given);
    },
  };
  const { create, rest, phone, calledFor } = await stage({}, full);
  await create("t1");
  await rest(3_600_000);
  expect([phone.notes.length, (await calledFor("t1")).length]).toEqual([1, 0]);
  isFull = false;
  await rest(3_600_000);
  expect([phone.notes.length, (await calledFor("t1")).length]).toEqual([1, 1]);
});

test("a task whose dependency is cancelled causes a call, although the task itself has not changed", async () => {
  const { create, rest, phone, core } = await stage({}, createMemoryStore(), queue);
  await create("t1");
  await create("t2", { dependsOn: ["t1"] });
  await rest(60_000);
  const before = phone.notes.length;
  await core.submit("t1", { kind: "move", to: "dropped", actor: { role: "human" } });
  await rest(60_000);
  expect(phone.notes.slice(before).map(({ text }) => text)).toEqual([
    'The task depends on coffee#1, which is in "dropped" and will never be done. → signalbox task update t2 --depends-on ""',
  ]);
  const stored = await core.store.getTask("t2");
  expect(stored && (await core.needs.of(stored))).toMatchObject([{ reason: "dependency" }]);
});

test("a need that comes back after its call causes another call, but not immediately", async () => {
  const held = `
version: 1
states: { brew: { do: [acquire_workspace], next: done }, done: { terminal: true } }
`;
  const store = createMemoryStore();
  const phone = createScriptedNotifier();
  const failing = async () => {
    throw new Fault("pool.broken", "The kettle is broken.");
  };
  const { create, rest, core } = await coreStage(held, 1, store, () => ({
    channels: () => new Map([["phone", phone]]),
    performers: () => ({ acquire_workspace: failing }),
  }));
  await create("t1");
  await rest(10_000);
  expect(phone.notes).toHaveLength(1);
  await core.submit("t1", human);
  await rest(10_000);
  expect(phone.notes).toHaveLength(1);
  await rest(600_000);
  expect(phone.notes).toHaveLength(2);
});
