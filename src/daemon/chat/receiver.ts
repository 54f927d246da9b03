import { readFileSync } from "node:fs";
import { Refusal } from "../../api/client.ts";
import { publishFile } from "../../durable-file.ts";
import { Fault, tell } from "../../fault.ts";
import { parseObject } from "../../json.ts";
import type { Chat, IncomingMessage } from "../../ports/chat.ts";
import { sentences } from "../../text.ts";
import { cancelByPerson } from "../cancel-task.ts";
import type { Core } from "../core.ts";
import { answerQuestion } from "../questions/answers.ts";
import { changeView } from "../views.ts";
import type { OpenChat } from "./chats.ts";
import { type AskedInChat, type Meaning, meaningOf } from "./meaning.ts";

/** Reads the messages of chats, and does what the allowed ones ask for. */
export interface Receiver {
  /** How many messages came from chats that are not allowed, since the daemon started. */
  strangers(): number;
  /** Begins, or begins again with changed settings. */
  wake(): void;
  stop(): Promise<void>;
}

interface ReceiverPorts {
  readonly core: () => Core;
  /** The file with the offset. */
  readonly file: string;
  open(): OpenChat | undefined;
}

/** A message that is being acted on. Repeating that is harmless: it names its question. */
interface Pending {
  readonly service: string;
  readonly chat: string;
  readonly message: number;
  readonly who: string;
  readonly meaning: Meaning;
}

interface Position {
  readonly account: string;
  readonly next: number;
  /** Missing where nothing is being acted on. */
  readonly pending?: Pending;
}

/** Foreign chats that were told why they get no answer; beyond this many, others are only counted. */
const maxToldStrangers = 100;
const receiving = "receiving";
const settingsPause = 10_000;

export function createReceiver({ core, file, open }: ReceiverPorts): Receiver {
  let strangers = 0;
  const toldStrangers = new Set<string>();
  let stopping = new AbortController();
  let isStopped = false;
  let underWay: Promise<void> = Promise.resolve();

  const pause = (milliseconds: number, signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      const cancel = core().clock.after(milliseconds, resolve);
      signal.addEventListener("abort", () => {
        cancel();
        resolve();
      });
    });
  /** The configured chat service. While its settings are wrong, waits until they are not. */
  const settled = async (signal: AbortSignal): Promise<OpenChat | undefined> => {
    while (!signal.aborted) {
      try {
        return open();
      } catch {
        // The sender reports why.
        await pause(settingsPause, signal);
      }
    }
    return undefined;
  };
  const run = async (signal: AbortSignal) => {
    const opened = await settled(signal);
    if (opened === undefined) return;
    const { chats } = core();
    const { chat, allowed } = opened;
    let position = readPosition(file, chat);
    const save = (next: number, pending?: Pending) => {
      const later = { account: chat.account, next, ...(pending === undefined ? {} : { pending }) };
      publishFile(file, `${JSON.stringify(later)}\n`, { mode: 0o600 });
      position = later;
    };
    const take = async (message: IncomingMessage) => {
      if (!allowed.includes(message.chat)) {
        save(message.next);
        return refuseStranger(message);
      }
      await chats.sending();
      const meaning = meaningOf(message, await askedIn(message.chat));
      const { chat: where, id, from } = message;
      const pending = { service: chat.service, chat: where, message: id, who: from, meaning };
      // What the message means is stored first: after a crash, another question may be the only open one.
      save(message.next, pending);
      await act(pending);
      save(message.next);
    };
    while (!signal.aborted) {
      try {
        if (position.pending !== undefined) {
          await act(position.pending);
          save(position.next);
        }
        const { messages, next } = await chat.receive(position.next, signal);
        chats.noted(receiving, undefined);
        for (const message of messages) if (!signal.aborted) await take(message);
        if (next > position.next && !signal.aborted) save(next);
      } catch (error) {
        if (signal.aborted) return;
        chats.noted(receiving, error);
        await pause(chats.pauseFor(receiving), signal);
      }
    }
  };
  const askedIn = async (chat: string): Promise<readonly AskedInChat[]> => {
    const rows = await core().store.chatQuestions.list({});
    return rows.flatMap(({ id, isOpen, sent }) => {
      const message = sent[chat]?.message;
      return message === undefined ? [] : [{ question: id, isOpen, message }];
    });
  };
  /** Its text is not kept, and no name either. */
  const refuseStranger = async ({ chat, id }: IncomingMessage) => {
    strangers++;
    if (toldStrangers.has(chat) || toldStrangers.size >= maxToldStrangers) return;
    toldStrangers.add(chat);
    core().log.warn("A message came from a chat that is not allowed", { chat });
    await core().chats.tell(chat, `This chat, ${chat}, is not on the list in chat.telegram.chats of Signalbox.`, id);
  };
  const act = async ({ service, chat, message, who, meaning }: Pending) => {
    const say = (text: string) => core().chats.tell(chat, text, message);
    if (meaning.kind === "none") return meaning.why === "" ? undefined : say(meaning.why);
    const id = meaning.kind === "answer" ? meaning.question.split(".")[0] : meaning.task;
    const stored = await core().store.getTask(id ?? "");
    if (stored === undefined) return say(`There is no task ${id}.`);
    try {
      if (meaning.kind === "cancel") {
        const { task } = await changeView(core(), await cancelByPerson(core(), stored));
        return await say(`${task.project}#${task.number} is in ${task.status}.`);
      }
      const voice = { via: service, ...(who === "" ? {} : { who }) };
      await answerQuestion(core(), stored, { text: meaning.text, question: meaning.question, ...voice });
    } catch (error) {
      if (error instanceof Refusal) return say(error.reasons.map(({ text, fix }) => sentences([text, fix])).join("\n"));
      if (error instanceof Fault) return say(tell(error));
      core().log.error("A message of a chat could not be acted on", { error });
      return say("This did not work, because of a bug in Signalbox: see its log.");
    }
  };

  return {
    strangers: () => strangers,
    wake() {
      if (isStopped) return;
      stopping.abort();
      stopping = new AbortController();
      const { signal } = stopping;
      underWay = underWay.then(() => run(signal)).catch((error) => core().log.error("A chat is not read", { error }));
    },
    async stop() {
      isStopped = true;
      stopping.abort();
      await underWay;
    },
  };
}

function readPosition(file: string, { account }: Chat): Position {
  const none = { account, next: 0 };
  try {
    const stored = parseObject(readFileSync(file, "utf8")) as Partial<Position> | undefined;
    return stored?.account === account && typeof stored.next === "number" ? { ...none, ...stored } : none;
  } catch {
    return none;
  }
}
