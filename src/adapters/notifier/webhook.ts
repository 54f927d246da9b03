import { createHmac } from "node:crypto";
import { Fault } from "../../fault.ts";
import type { Note, Notifier } from "../../ports/system.ts";
import { oneLine } from "../../text.ts";
import { createMask, decoded } from "./notifiers.ts";

export interface WebhookOptions {
  readonly url: string;
  /** Signs the body, so that the receiver can verify its sender. */
  readonly secret?: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds for the whole exchange. */
  readonly timeout?: number;
  /** Aborts requests when it fires. */
  readonly signal?: AbortSignal;
}

// Shows less than it reads, so that a secret that is cut at the end of the reading is not shown.
const maxRead = 2 * 1024;
const maxShown = 500;

/** Posts notes as JSON. Messages name only the server: the rest of the address is often secret. */
export function webhook({ url, secret, now, timeout = 10_000, signal: stopping }: WebhookOptions): Notifier {
  const { target, authorization } = readUrl(url);
  const mask = createMask(url, secret);
  return {
    async notify(note) {
      const body = bodyOf(note, now());
      const limit = AbortSignal.timeout(timeout);
      const signal = stopping === undefined ? limit : AbortSignal.any([limit, stopping]);
      const headers = {
        "content-type": "application/json",
        "idempotency-key": note.key,
        ...(authorization === undefined ? {} : { authorization }),
        ...(secret === undefined ? {} : { "signalbox-signature": signatureOf(body, secret) }),
      };
      const response = await fetch(target, { method: "POST", headers, body, signal, redirect: "manual" }).catch(
        (error: unknown) => {
          throw unreachable(target, timeout, error);
        },
      );
      if (!response.ok) throw refused(target, response.status, oneLine(mask(await readStart(response)), maxShown));
      await response.body?.cancel().catch(() => {});
    },
  };
}

function bodyOf({ title, text, task, project, key, needs }: Note, now: number): string {
  return JSON.stringify({ title, text, task, project, key, needs, at: new Date(now).toISOString() });
}

function signatureOf(body: string, secret: string): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** `fetch` does not accept an address with name and password, so they become a header. */
function readUrl(url: string): { readonly target: URL; readonly authorization: string | undefined } {
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (target === undefined || (target.protocol !== "http:" && target.protocol !== "https:"))
    throw new Fault("notifier.bad-url", "The address of the webhook is not an http or https URL.", {
      hint: "Write it like https://example.org/hook.",
    });
  const { username, password } = target;
  target.username = "";
  target.password = "";
  if (username === "" && password === "") return { target, authorization: undefined };
  const pair = `${decoded(username)}:${decoded(password)}`;
  return { target, authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

function unreachable({ origin }: URL, timeout: number, error: unknown): Fault {
  const { name, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? name;
  const why = name === "TimeoutError" ? `did not answer within ${timeout / 1000} s` : `could not be reached (${code})`;
  return new Fault("notifier.unreachable", `The webhook at ${origin} ${why}.`, { retry: "later", cause: error });
}

function refused({ origin }: URL, status: number, said: string): Fault {
  const isTemporary = status === 408 || status === 425 || status === 429 || status >= 500;
  const isElsewhere = status >= 300 && status < 400;
  const why = isElsewhere ? `answered ${status}; redirects are not followed` : `answered ${status}`;
  return new Fault("notifier.refused", `The webhook at ${origin} ${why}${said === "" ? "." : `: ${said}`}`, {
    retry: isTemporary ? "later" : "never",
    hint: isTemporary ? "Signalbox retries." : "Check the address of the webhook.",
  });
}

/** The start of the server's answer, which may be endless or break off. */
async function readStart(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    // Leaving the loop cancels the download.
    for await (const part of response.body ?? []) {
      parts.push(part);
      size += part.length;
      if (size >= maxRead) break;
    }
  } catch {
    // Use the part that arrived.
  }
  return new TextDecoder().decode(Buffer.concat(parts).subarray(0, maxRead));
}
