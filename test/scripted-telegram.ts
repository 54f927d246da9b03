import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

interface SentMessage {
  readonly chat: string;
  readonly text: string;
  readonly id: number;
  readonly replyTo: number | undefined;
  readonly isSilent: boolean;
}

interface Said {
  readonly chat: string;
  readonly text?: string;
  readonly from?: string;
  readonly replyTo?: number;
  readonly isGroup?: boolean;
}

export type ScriptedTelegram = Awaited<ReturnType<typeof startTelegram>>;

export const botToken = `123456789:${"AAE".repeat(12)}`;

/** A server for Telegram's Bot API on loopback, with `getUpdates` and `sendMessage`. */
export async function startTelegram() {
  const sent: SentMessage[] = [];
  const asked: string[] = [];
  let updates: { readonly update_id: number; readonly message: object }[] = [];
  let lastUpdate = 1_000;
  let lastMessage = 0;
  let failures: { readonly method: string; readonly status: number; readonly body: object }[] = [];
  const waiting = new Set<() => void>();
  let isDown = false;
  let delay = 0;

  const answer = (response: ServerResponse, status: number, body: object) => {
    if (response.writableEnded || response.destroyed) return;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  const getUpdates = (response: ServerResponse, { offset = 0, timeout = 0 }: { offset?: number; timeout?: number }) => {
    updates = updates.filter(({ update_id }) => update_id >= offset);
    const end = () => {
      waiting.delete(end);
      clearTimeout(timer);
      answer(response, 200, { ok: true, result: updates.filter(({ update_id }) => update_id >= offset) });
    };
    const timer = setTimeout(end, updates.length > 0 ? 0 : timeout * 1_000);
    waiting.add(end);
    response.on("close", () => waiting.delete(end) && clearTimeout(timer));
  };
  const server = createServer(async (request, response) => {
    const [, token = "", method = ""] = /^\/bot([^/]+)\/(\w+)$/.exec(request.url ?? "") ?? [];
    asked.push(method);
    if (isDown) return void request.socket.destroy();
    const body = (await json(request)) as Record<string, never>;
    const failure = failures.find((each) => each.method === method);
    if (failure !== undefined) {
      failures = failures.filter((each) => each !== failure);
      return answer(response, failure.status, failure.body);
    }
    if (token !== botToken) return answer(response, 401, { ok: false, error_code: 401, description: "Unauthorized" });
    if (method === "getUpdates") return getUpdates(response, body);
    const { chat_id, text, reply_parameters, disable_notification } = body as {
      [name: string]: never;
    } as unknown as {
      chat_id: number;
      text: string;
      reply_parameters?: { message_id: number };
      disable_notification?: boolean;
    };
    const message = { chat: String(chat_id), text, id: ++lastMessage, replyTo: reply_parameters?.message_id };
    sent.push({ ...message, isSilent: disable_notification === true });
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    answer(response, 200, { ok: true, result: { message_id: message.id, chat: { id: chat_id }, text } });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;

  return {
    address: `http://127.0.0.1:${port}`,
    /** Every message that the bot has sent, the oldest first. */
    sent,
    /** The methods that were called. */
    asked,
    /** A person writes a message. */
    say({ chat, text, from = "Ann", replyTo, isGroup = false }: Said): void {
      const message = {
        message_id: ++lastMessage,
        chat: { id: Number(chat), type: isGroup ? "group" : "private" },
        from: { id: 7, first_name: from },
        ...(text === undefined ? { photo: [] } : { text }),
        ...(replyTo === undefined ? {} : { reply_to_message: { message_id: replyTo } }),
      };
      updates.push({ update_id: ++lastUpdate, message });
      for (const end of [...waiting]) end();
    },
    /** The next call of a method fails like this. */
    fail(method: string, status: number, body: object = { ok: false, error_code: status, description: "No." }): void {
      failures = [...failures, { method, status, body }];
    },
    /** People read messages this many milliseconds before the bot learns that they were sent. */
    setDelay(milliseconds: number): void {
      delay = milliseconds;
    },
    /** Whether every connection breaks. */
    setDown(down: boolean): void {
      isDown = down;
      if (down) server.closeAllConnections();
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
