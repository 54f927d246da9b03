import type { Readable, Writable } from "node:stream";
import { isJsonObject, jsonAt } from "../../json-at.ts";
import { numberAt, textAt } from "../json-at.ts";
import { jsonLines } from "../json-lines.ts";

/** The other side said no. */
export interface PeerError {
  readonly code: number;
  readonly message: string;
}

export type PeerAnswer =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: PeerError };

export interface Peer {
  call(method: string, params: unknown): Promise<PeerAnswer>;
  notify(method: string, params: unknown): void;
}

export interface PeerListener {
  notified(method: string, params: unknown): void;
  /** Undefined where it is not known how to answer that. */
  asked(method: string, params: unknown): Readonly<Record<string, unknown>> | undefined;
}

/** JSON-RPC over lines. Questions that are open when the other side goes away are answered with an error. */
export function createPeer(input: Readable, output: Writable, listener: PeerListener): Peer {
  const open = new Map<number, (answer: PeerAnswer) => void>();
  const lines = jsonLines();
  let last = 0;
  let isGone = false;

  const send = (message: Readonly<Record<string, unknown>>) =>
    output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

  function take(message: Readonly<Record<string, unknown>>): void {
    const { id, method } = message;
    if (typeof method === "string" && id !== undefined) {
      const result = listener.asked(method, message.params);
      send(result === undefined ? { id, error: { code: -32601, message: "Method not found" } } : { id, result });
    } else if (typeof method === "string") listener.notified(method, message.params);
    else if (typeof id === "number") {
      open.get(id)?.(answerIn(message));
      open.delete(id);
    }
  }

  function gone(): void {
    isGone = true;
    for (const answer of open.values()) answer({ ok: false, error: { code: 0, message: "The agent has ended." } });
    open.clear();
  }

  input.on("data", (chunk: Buffer) => lines.push(chunk).forEach(take));
  input.on("close", gone);
  // It may have gone already; that is noticed on the other line.
  output.on("error", () => {});

  return {
    notify: (method, params) => void send({ method, params }),
    call: (method, params) =>
      new Promise((resolve) => {
        if (isGone) return resolve({ ok: false, error: { code: 0, message: "The agent has ended." } });
        open.set(++last, resolve);
        send({ id: last, method, params });
      }),
  };
}

function answerIn(message: Readonly<Record<string, unknown>>): PeerAnswer {
  if (!isJsonObject(message.error)) return { ok: true, result: message.result };
  const details = jsonAt(message.error, "data", "details") ?? jsonAt(message.error, "data", "message");
  const said = [textAt(message.error, "message"), typeof details === "string" ? details : ""];
  return {
    ok: false,
    error: { code: numberAt(message.error, "code") ?? 0, message: said.filter((each) => each !== "").join(": ") },
  };
}
