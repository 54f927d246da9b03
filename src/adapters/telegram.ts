import { Fault } from "../fault.ts";
import { isJsonObject } from "../json.ts";
import type { Chat, IncomingMessage } from "../ports/chat.ts";
import { cutText, oneLine } from "../text.ts";

interface TelegramOptions {
  /** The bot's token, which is part of every address: it must not be in any message. */
  readonly token: string;
  /** Such as `https://api.telegram.org`. */
  readonly address: string;
  /** Aborts requests when it fires. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  now(): number;
  /** Seconds that the service waits for a message. */
  readonly wait?: number;
}

/** Telegram's limit, in UTF-16 units. */
const maxText = 4_096;
const sendTimeout = 15_000;
const defaultWait = 25;
/** Longer answers are not read: this many updates with texts of the longest kind are far below it. */
const maxUpdates = 50;
const maxName = 64;
const maxShown = 300;

/** A Telegram bot, over the Bot API. */
export function telegram({ token, address, signal: stopping, now, wait = defaultWait }: TelegramOptions): Chat {
  const base = address.replace(/\/+$/, "");
  const account = token.split(":")[0] ?? "";
  const mask = (text: string) => text.replaceAll(token, "…");

  const ask = async (method: string, body: object, timeout: number, given?: AbortSignal): Promise<unknown> => {
    const signal = AbortSignal.any([AbortSignal.timeout(timeout), stopping, ...(given === undefined ? [] : [given])]);
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body), signal, redirect: "manual" } as const;
    const answer = await fetch(`${base}/bot${token}/${method}`, init)
      .then(async (response) => ({ status: response.status, body: await response.json().catch(() => undefined) }))
      .catch((error: unknown) => {
        throw unreachable(base, error);
      });
    if (isJsonObject(answer.body) && answer.body.ok === true) return answer.body.result;
    throw refused(base, answer.status, answer.body, mask, now());
  };

  return {
    service: "telegram",
    account,
    async send({ chat, text, replyTo, isSilent = false }) {
      const reply =
        replyTo === undefined ? {} : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } };
      const body = {
        ...{ chat_id: Number(chat), text: cutText(text, maxText), disable_notification: isSilent, ...reply },
        link_preview_options: { is_disabled: true },
      };
      const sent = await ask("sendMessage", body, sendTimeout);
      return isJsonObject(sent) ? Number(sent.message_id) : 0;
    },
    async receive(offset, signal) {
      const body = { offset, timeout: wait, limit: maxUpdates, allowed_updates: ["message"] };
      const updates = await ask("getUpdates", body, wait * 1000 + sendTimeout, signal);
      const all = (Array.isArray(updates) ? updates : []).filter(isJsonObject);
      const next = all.reduce((last, { update_id }) => Math.max(last, Number(update_id) + 1 || 0), offset);
      return { next, messages: all.flatMap(messageOf) };
    },
  };
}

function messageOf({ update_id, message }: Readonly<Record<string, unknown>>): readonly IncomingMessage[] {
  if (!isJsonObject(message) || !isJsonObject(message.chat)) return [];
  const { chat, from, reply_to_message: replied } = message;
  return [
    {
      next: Number(update_id) + 1,
      chat: String(chat.id),
      isPrivate: chat.type === "private",
      id: Number(message.message_id),
      from: isJsonObject(from) ? nameOf(from) : "",
      text: typeof message.text === "string" ? message.text : "",
      ...(isJsonObject(replied) ? { repliesTo: Number(replied.message_id) } : {}),
    },
  ];
}

function nameOf({ first_name, last_name, username }: Readonly<Record<string, unknown>>): string {
  const parts = [first_name, last_name].filter((part) => typeof part === "string");
  const name = parts.length > 0 ? parts.join(" ") : username;
  return oneLine(typeof name === "string" ? name : "", maxName);
}

/** The cause is left out: its text may contain the address. */
function unreachable(base: string, error: unknown): Fault {
  const { name, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? name;
  const why = name === "TimeoutError" ? "did not answer in time" : `could not be reached (${code})`;
  return new Fault("chat.unreachable", `Telegram at ${hostOf(base)} ${why}.`, { retry: "later" });
}

function refused(base: string, status: number, body: unknown, mask: (text: string) => string, now: number): Fault {
  const { description, parameters, error_code = status } = isJsonObject(body) ? body : {};
  const said = typeof description === "string" ? `: ${oneLine(mask(description), maxShown)}` : "";
  const seconds = isJsonObject(parameters) ? Number(parameters.retry_after) : Number.NaN;
  const cause = seconds > 0 ? { retryAt: now + seconds * 1000 } : undefined;
  const hint = hints[Number(error_code)];
  const options = {
    retry: "later",
    ...(hint === undefined ? {} : { hint }),
    ...(cause === undefined ? {} : { cause }),
  };
  return new Fault("chat.refused", `Telegram at ${hostOf(base)} answered ${error_code}${said}.`, options as object);
}

const hints: Readonly<Record<number, string>> = {
  401: "Check the bot's token: signalbox config get chat.telegram.token_file",
  404: "Check the bot's token: signalbox config get chat.telegram.token_file",
  400: "Check the ids of the chats: signalbox config get chat.telegram.chats",
  403: "Open the chat with the bot, and press Start.",
  409: "Another program reads this bot's messages. Stop it, or make a bot of your own for Signalbox.",
};

function hostOf(base: string): string {
  return URL.parse(base)?.host ?? "its address";
}
