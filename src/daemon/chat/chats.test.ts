import { expect, test } from "vitest";
import { sampleDecision, sampleProject, sampleTask } from "../../../test/contracts/samples.ts";
import { createMemoryStore } from "../../../test/memory-store/memory-store.ts";
import { createScriptedClock } from "../../../test/scripted-ports.ts";
import type { Need } from "../../engine/needs.ts";
import { Fault } from "../../fault.ts";
import type { Chat, OutgoingMessage } from "../../ports/chat.ts";
import type { StoredTask } from "../../ports/store.ts";
import { createChats } from "./chats.ts";

/** The need of a task that asks this. */
function asks(id: string): Need {
  const question = { id, kind: "dialogue", text: "Which beans?", role: "host", answer: "text", choices: [] } as const;
  return { reason: "question", text: "", fix: "", command: "", since: 0, key: `need ${id}`, question };
}

/** Chats of a task `t1` over a service that records what it sends, and is slow or down on demand. */
async function begin() {
  const store = createMemoryStore();
  await store.addProject(sampleProject());
  await store.createTask("coffee", sampleTask("t1"));
  const clock = createScriptedClock(1_000_000);
  const sent: OutgoingMessage[] = [];
  const service = { isDown: false, slow: undefined as Promise<void> | undefined };
  const chat: Chat = {
    ...{ service: "telegram", account: "bot", receive: async () => ({ messages: [], next: 0 }) },
    async send(message) {
      if (service.isDown) throw new Fault("chat.unreachable", "It could not be reached.", { retry: "later" });
      sent.push(message);
      await service.slow;
      return sent.length;
    },
  };
  const errors: unknown[] = [];
  /** As a daemon has them after its start. */
  const start = () =>
    createChats({
      ...{ store, clock, open: () => ({ chat, allowed: ["5"] }), quiet: () => "" },
      onError: (error) => errors.push(error),
    });
  const task = async () => (await store.getTask("t1")) as StoredTask;
  return { store, clock, sent, service, errors, start, task, texts: () => sent.map(({ text }) => text.split("\n")[1]) };
}

const asked = "host asks t1.2.1:";

test("a question that comes back after its end was told is asked again", async () => {
  const { clock, start, task, sent } = await begin();
  const chats = start();
  for (const needs of [[asks("t1.2.1")], [], [asks("t1.2.1")]]) {
    await chats.found(await task(), needs);
    await clock.pass(2_000);
  }
  expect(sent.map(({ text }) => text.includes(asked))).toEqual([true, false, true]);
});

test("the end of a question that is being sent is told", async () => {
  const { clock, start, task, sent, service } = await begin();
  const chats = start();
  let arrive = () => {};
  service.slow = new Promise((resolve) => (arrive = resolve));
  await chats.found(await task(), [asks("t1.2.1")]);
  await clock.pass(2_000);
  await chats.found(await task(), []);
  arrive();
  await clock.pass(5_000);
  expect(sent.map(({ text }) => text.includes(asked))).toEqual([true, false]);
});

test("a question that begins while another is being sent is sent too", async () => {
  const { clock, start, task, sent, service } = await begin();
  const chats = start();
  let arrive = () => {};
  service.slow = new Promise((resolve) => (arrive = resolve));
  await chats.found(await task(), [asks("t1.2.1")]);
  await clock.pass(2_000);
  await chats.found(await task(), [asks("t1.2.2")]);
  arrive();
  await clock.pass(5_000);
  expect(sent.at(-1)?.text).toContain("t1.2.2");
});

test("after a restart the end of a question is told that ended before", async () => {
  const { clock, start, task, sent } = await begin();
  const first = start();
  await first.found(await task(), [asks("t1.2.1")]);
  await clock.pass(2_000);
  await first.found(await task(), []);
  await first.stop();
  expect(sent).toHaveLength(1);
  await start().recover();
  await clock.pass(2_000);
  expect(sent).toMatchObject([{}, { replyTo: 1 }]);
});

test("after a restart the end of a question is told whose task has ended meanwhile", async () => {
  const { clock, start, task, sent, store } = await begin();
  const first = start();
  await first.found(await task(), [asks("t1.2.1")]);
  await clock.pass(2_000);
  await first.stop();
  await store.saveDecision(sampleDecision(await task(), { phase: "over" }, { isOpen: false }));
  await start().recover();
  await clock.pass(2_000);
  expect(sent).toMatchObject([{}, { replyTo: 1 }]);
});

test("a person is called again for a question whose end the chats were told", async () => {
  const { clock, start, task } = await begin();
  const chats = start();
  await chats.found(await task(), [asks("t1.2.1")]);
  await clock.pass(2_000);
  expect(chats.hasSent({ id: "need t1.2.1" })).toBe(true);
  await chats.found(await task(), []);
  await clock.pass(2_000);
  expect(chats.hasSent({ id: "need t1.2.1" })).toBe(false);
});

test("after a change of the settings a message that failed is sent at once", async () => {
  const { clock, start, task, sent, service } = await begin();
  const chats = start();
  service.isDown = true;
  await chats.found(await task(), [asks("t1.2.1")]);
  await clock.pass(2_000);
  service.isDown = false;
  expect(chats.problem()).toContain("could not be reached");
  chats.wake();
  await clock.pass(0);
  expect([sent.length, chats.problem()]).toEqual([1, ""]);
});
