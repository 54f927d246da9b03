import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { botToken, type ScriptedTelegram, startTelegram } from "../../test/scripted-telegram.ts";
import { Fault, retryAtOf, tell } from "../fault.ts";
import { telegram } from "./telegram.ts";

let server: ScriptedTelegram;
beforeAll(async () => {
  server = await startTelegram();
});
afterAll(() => server.close());
beforeEach(() => void server.sent.splice(0));

const never = new AbortController().signal;
const open = (more: object = {}) =>
  telegram({ token: botToken, address: server.address, signal: never, now: () => 1_000, wait: 5, ...more });

async function faultOf(promise: Promise<unknown>): Promise<Fault> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error(`Expected a Fault, but got ${String(error)}.`);
  expect(JSON.stringify([error.message, error.hint, error.stack, String(error.cause)])).not.toContain(botToken);
  return error;
}

test("a message is sent to its chat, as a reply and without a sound if wanted, and cut to Telegram's limit", async () => {
  const chat = open();
  const id = await chat.send({ chat: "-100", text: "Which beans?" });
  await chat.send({ chat: "5", text: "x".repeat(5_000), replyTo: id, isSilent: true });
  expect(server.sent).toMatchObject([
    { chat: "-100", text: "Which beans?", id, replyTo: undefined, isSilent: false },
    { chat: "5", text: `${"x".repeat(4_095)}…`, replyTo: id, isSilent: true },
  ]);
});

test("messages are received once, with their sender and what they reply to", async () => {
  const chat = open();
  server.say({ chat: "5", text: "Arabica", from: "Ann\u001b[2J", replyTo: 3 });
  server.say({ chat: "-7", isGroup: true });
  const { messages, next } = await chat.receive(0, never);
  expect(messages).toMatchObject([
    { chat: "5", isPrivate: true, text: "Arabica", from: "Ann", repliesTo: 3 },
    { chat: "-7", isPrivate: false, text: "", next },
  ]);
  const later = chat.receive(next, never);
  server.say({ chat: "5", text: "Robusta" });
  expect((await later).messages.map(({ text }) => text)).toEqual(["Robusta"]);
});

test("a failure says what is wrong and when to try again, and never shows the token", async () => {
  const description = `Too Many Requests for ${botToken}`;
  server.fail("sendMessage", 429, { ok: false, error_code: 429, description, parameters: { retry_after: 30 } });
  const limited = await faultOf(open().send({ chat: "5", text: "x" }));
  expect([limited.retry, retryAtOf(limited)]).toEqual(["later", 31_000]);
  expect(limited.message).toContain("answered 429: Too Many Requests");
  const wrong = await faultOf(open({ token: "1:wrong" }).receive(0, never));
  expect(tell(wrong)).toMatch(/answered 401: Unauthorized\. Check the bot's token/);
  server.fail("getUpdates", 502, "<html>" as never);
  expect((await faultOf(open().receive(0, never))).message).toMatch(/answered 502\.$/);
  const { address, close } = await startTelegram();
  await close();
  const nowhere = await faultOf(open({ address }).send({ chat: "5", text: "x" }));
  expect(nowhere.message).toMatch(/^Telegram at 127\.0\.0\.1:\d+ could not be reached \(ECONNREFUSED\)\.$/);
});

test("waiting for messages ends when it is no longer wanted", async () => {
  const ending = new AbortController();
  const waiting = open({ wait: 50 }).receive(0, ending.signal);
  ending.abort();
  await expect(waiting).rejects.toBeInstanceOf(Fault);
});
