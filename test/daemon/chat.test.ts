import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { telegram } from "../../src/adapters/telegram.ts";
import type { RunningCore } from "../../src/daemon/create-core.ts";
import { status } from "../../src/daemon/requests/daemon.ts";
import { Fault } from "../../src/fault.ts";
import type { PartialConfig } from "../../src/home/config-fields.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Store } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { removeFolder } from "../remove-folder.ts";
import { createScriptedNotifier } from "../scripted-ports.ts";
import { botToken, startTelegram } from "../scripted-telegram.ts";
import { coreStage } from "./core-stage.ts";

const talk = `name: talk
version: 1
roles:
  host: { mode: dialogue, prompt: ask, result: order, until: { clear: true } }
states:
  todo: { waits_for: slot, next: asking }
  asking: { agent: { role: host }, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human }]
schemas:
  order: { type: object, required: [clear, message], properties: { clear: { type: boolean }, message: { type: string } } }
prompts: { ask: "What is {summary}?" }
`;

const [ann, team, foreign] = ["5", "-100", "9"];

/** A core whose questions go to Ann and to a team, over a scripted Telegram, and whose calls go to a phone. */
async function begin(
  store: Store = createMemoryStore(),
  more: { readonly home?: string; readonly quiet?: string } = {},
) {
  const server = await startTelegram();
  const phone = createScriptedNotifier();
  const ending = new AbortController();
  const values: PartialConfig = { chatTelegramChats: [5, team], notifyQuiet: more.quiet ?? "" };
  const home = more.home ?? mkdtempSync(join(tmpdir(), "signalbox-chat-"));
  onTestFinished(() => removeFolder(home));
  makePrivateFolder(homePlaces(home).run);
  let isForbidden = false;
  const stage = await coreStage(talk, 9, store, () => ({
    ...{ home, channels: () => new Map([["phone", phone]]), config: () => ({ values, problems: [] }) },
    chat: () => {
      if (isForbidden) throw new Fault("chat.token", "There is no valid token.");
      const signal = ending.signal;
      const chat = telegram({
        token: botToken,
        address: server.address,
        signal,
        now: () => stage.clock.now(),
        wait: 20,
      });
      return { chat, allowed: [ann, team].map(String) };
    },
  }));
  const close = async (core: RunningCore = stage.core) => {
    const closed = core.close();
    ending.abort();
    await closed;
    await server.close();
  };
  onTestFinished(() => close());
  /** Lets time pass until this holds; requests take real time. */
  const until = async (holds: () => boolean | Promise<boolean>) => {
    for (let i = 0; i < 400; i++) {
      if (await holds()) return;
      await stage.clock.pass(100);
      await sleep(2);
    }
    throw new Error(JSON.stringify([server.sent, stage.errors]));
  };
  const says = async (task: string, message: string, clear = false) => {
    const run = Object.values((await store.getTask(task))?.task.runs ?? {})[0]?.key ?? "";
    await stage.core.submit(task, { kind: "ended", run, word: "ok", answer: { clear, message } });
  };
  return {
    ...{ ...stage, server, phone, home, close, until, says },
    file: join(homePlaces(home).run, "chat.json"),
    to: (chat: string | undefined) => server.sent.filter((each) => each.chat === chat),
    /** A task whose agent has asked this in both chats. */
    async asking(task: string, message: string) {
      await stage.create(task);
      await stage.rest();
      await says(task, message);
      const before = server.sent.length;
      await until(() => server.sent.length >= before + 2);
    },
    forbid: (forbidden: boolean) => {
      isForbidden = forbidden;
    },
    channels: async () => (await status(stage.core)({} as never)).calls.channels,
    answers: async (task: string) =>
      (await store.listEvents({ task }, 0, 1_000)).flatMap(({ event: { type, by, data } }) =>
        type === "dialogue.answered" ? [{ by, ...data }] : [],
      ),
  };
}

test("a question goes once to each chat, a reply answers it as a person, and every chat learns who answered", async () => {
  const { asking, server, to, until, answers, phone, rest, says, channels } = await begin();
  await asking("t1", "Which beans?");
  expect(to(ann)).toMatchObject([
    { text: "coffee#1 Brew\nhost asks t1.2.1:\n\nWhich beans?\n\nReply to this message to answer.", isSilent: false },
  ]);
  expect(to(team)).toHaveLength(1);
  // The chats have asked, so no other channel calls.
  await rest(60_000);
  expect([phone.notes, server.sent.length]).toEqual([[], 2]);
  server.say({ chat: team ?? "", text: "Arabica", from: "Bob", replyTo: to(team)[0]?.id ?? 0, isGroup: true });
  await until(() => server.sent.length === 4);
  expect(await answers("t1")).toEqual([
    { by: "human", text: "Arabica", round: 1, confirmed: false, question: "t1.2.1", via: "telegram", who: "Bob" },
  ]);
  expect(to(ann)[1]).toMatchObject({
    text: expect.stringMatching(/^The question t1\.2\.1 was answered by Bob over telegram at .* UTC: "Arabica"\.$/),
    ...{ replyTo: to(ann)[0]?.id, isSilent: true },
  });
  // A late reply in the other chat is refused with who answered.
  server.say({ chat: ann ?? "", text: "Robusta", replyTo: to(ann)[0]?.id ?? 0 });
  await until(() => to(ann).length === 3);
  expect(to(ann)[2]?.text).toContain("was answered by Bob over telegram");
  expect(await answers("t1")).toHaveLength(1);
  await says("t1", "How strong?");
  await until(() => to(ann).length === 4);
  server.say({ chat: ann ?? "", text: "Very" });
  await until(async () => (await answers("t1")).length === 2);
  expect((await answers("t1"))[1]).toMatchObject({ text: "Very", who: "Ann" });
  expect(await channels()).toEqual([
    { name: "phone", problem: "", undelivered: [], strangers: 0 },
    { name: "telegram", problem: "", undelivered: [], strangers: 0 },
  ]);
});

test("a reply that comes before its question is known to be sent answers that question, and no other", async () => {
  const { asking, create, rest, says, server, to, until, answers } = await begin();
  await asking("t1", "Which beans?");
  await create("t2");
  await rest();
  server.setDelay(200);
  await says("t2", "How strong?");
  await until(() => to(ann).length === 2);
  server.say({ chat: ann ?? "", text: "Very", replyTo: to(ann)[1]?.id ?? 0 });
  await until(async () => (await answers("t2")).length === 1);
  expect(await answers("t2")).toMatchObject([{ text: "Very" }]);
  expect(await answers("t1")).toEqual([]);
});

test("a foreign chat gets one sentence, is counted, and nothing of it is stored", async () => {
  const { asking, server, to, until, answers, channels, file, store } = await begin();
  await asking("t1", "Which beans?");
  const before = await store.getTask("t1");
  for (const text of ["t1.2.1 Robusta", "/cancel t1", "hello"]) server.say({ chat: foreign ?? "", text });
  await until(async () => (await channels()).at(-1)?.strangers === 3);
  expect(to(foreign).map(({ text }) => text)).toEqual([
    "This chat, 9, is not on the list in chat.telegram.chats of Signalbox.",
  ]);
  expect([await answers("t1"), await store.getTask("t1")]).toEqual([[], before]);
  expect(readFileSync(file, "utf8")).not.toContain("Robusta");
});

test("a task is cancelled from a chat by its id", async () => {
  const { asking, server, to, until, statuses } = await begin();
  await asking("t1", "Which beans?");
  server.say({ chat: ann ?? "", text: "/cancel t1.2.1" });
  await until(async () => (await statuses("t1"))[0] === "dropped");
  await until(() => to(ann).length === 3 && to(team).length === 2);
  expect(to(ann).map(({ text }) => text)).toContain("coffee#1 is in dropped.");
  expect(to(team)[1]?.text).toMatch(/The question t1\.2\.1 is not open\. The task was moved to "dropped" by a person/);
  server.say({ chat: ann ?? "", text: "/cancel t1" });
  await until(() => to(ann).length === 4);
  expect(to(ann)[3]?.text).toContain('The task is in "dropped"');
});

test("after a restart nothing is sent or applied twice, and the end of a question is still told", async () => {
  const store = createMemoryStore();
  const first = await begin(store);
  await first.asking("t1", "Which beans?");
  first.server.say({ chat: foreign ?? "", text: "hello" });
  await first.until(() => first.to(foreign).length === 1);
  const messages = (await store.chatQuestions.get("t1.2.1"))?.sent;
  await first.close();
  const second = await begin(store, { home: first.home });
  await second.rest(5_000);
  await second.until(() => second.server.asked.includes("getUpdates"));
  expect(second.server.sent).toEqual([]);
  expect(JSON.parse(readFileSync(second.file, "utf8"))).toMatchObject({ account: "123456789", next: 1_002 });
  await second.core.submit("t1", { kind: "move", to: "dropped", actor: { role: "human" } });
  await second.until(() => second.server.sent.length === 2);
  expect(second.to(ann)).toMatchObject([{ replyTo: messages?.[ann ?? ""]?.message }]);
});

test("what a message means is stored before it is acted on", async () => {
  const memory = createMemoryStore();
  let [file, stored] = ["", ""];
  const store: Store = {
    ...memory,
    async saveDecision(decision) {
      if (decision.events.some(({ type }) => type === "dialogue.answered")) stored = readFileSync(file, "utf8");
      return memory.saveDecision(decision);
    },
  };
  const { asking, server, until, answers, ...rest } = await begin(store);
  file = rest.file;
  await asking("t1", "Which beans?");
  server.say({ chat: ann ?? "", text: "Arabica" });
  await until(async () => (await answers("t1")).length === 1);
  expect(JSON.parse(stored)).toMatchObject({ pending: { meaning: { question: "t1.2.1", text: "Arabica" } } });
});

test("a message whose meaning could not be read is received again", async () => {
  const memory = createMemoryStore();
  let isBusy = false;
  const list: typeof memory.chatQuestions.list = async (given) => {
    if (!isBusy) return memory.chatQuestions.list(given);
    isBusy = false;
    throw new Fault("store.busy", "The store is busy.", { retry: "later" });
  };
  const { asking, server, until, answers } = await begin({
    ...memory,
    chatQuestions: { ...memory.chatQuestions, list },
  });
  await asking("t1", "Which beans?");
  isBusy = true;
  server.say({ chat: ann ?? "", text: "Arabica" });
  await until(async () => (await answers("t1")).length === 1);
  expect(isBusy).toBe(false);
});

test("a message that was being acted on at a crash answers its own question, and no other", async () => {
  const store = createMemoryStore();
  const first = await begin(store);
  await first.asking("t1", "Which beans?");
  await first.close();
  const meaning = { kind: "answer", question: "t1.2.1", text: "Arabica" };
  const pending = { service: "telegram", chat: ann, message: 3, who: "Ann", meaning };
  // The same again after the answer was stored, and another question is open.
  for (const asks of ["How strong?", "How sweet?"]) {
    writeFileSync(first.file, JSON.stringify({ account: "123456789", next: 1_001, pending }));
    const { until, answers, says, close, file } = await begin(store, { home: first.home });
    await until(() => !readFileSync(file, "utf8").includes("pending"));
    expect((await answers("t1")).map(({ text }) => text)).toEqual(["Arabica"]);
    if (asks === "How strong?") await says("t1", asks);
    await close();
  }
});

test("while Telegram cannot be reached the person is called, doctor learns why, and the question is sent later", async () => {
  const { create, rest, says, server, to, until, phone, channels, errors, answers } = await begin();
  server.setDown(true);
  await create("t1");
  await rest();
  await says("t1", "Which beans?");
  await until(() => phone.notes.length === 1);
  expect((await channels()).at(-1)).toMatchObject({
    ...{ name: "telegram", problem: expect.stringContaining("could not be reached") },
    undelivered: ["coffee#1"],
  });
  server.setDown(false);
  await until(() => server.sent.length === 2);
  server.say({ chat: ann ?? "", text: "Arabica" });
  await until(async () => (await answers("t1")).length === 1 && (await channels()).at(-1)?.problem === "");
  await rest(60_000);
  expect([to(ann).length, phone.notes.length, errors]).toEqual([2, 1, []]);
});

test("a token that cannot be read is a problem that doctor shows, and questions are sent once it can be read", async () => {
  const { create, rest, says, server, until, channels, forbid } = await begin();
  forbid(true);
  await create("t1");
  await rest();
  await says("t1", "Which beans?");
  await until(async () => (await channels()).at(-1)?.problem === "There is no valid token.");
  expect([server.sent, (await channels()).at(-1)?.undelivered]).toEqual([[], ["coffee#1"]]);
  forbid(false);
  await until(() => server.sent.length === 2);
  expect((await channels()).at(-1)).toMatchObject({ problem: "", undelivered: [] });
});

test("in quiet hours a question makes no sound", async () => {
  const { asking, to } = await begin(createMemoryStore(), { quiet: "00:01-00:00" });
  await asking("t1", "Which beans?");
  expect(to(ann)[0]?.isSilent).toBe(true);
});

test("a question that is answered at once is not sent", async () => {
  const { create, rest, says, core, server, file } = await begin();
  await create("t1");
  await rest();
  await says("t1", "Which beans?");
  await rest(300);
  await core.submit("t1", { kind: "reply", actor: { role: "human" }, text: "Arabica" });
  await rest(10_000);
  expect([server.sent, existsSync(file)]).toEqual([[], false]);
});
