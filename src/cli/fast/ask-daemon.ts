import {
  type SocketAnswer,
  type SocketRequest,
  silentDaemon,
  socketRequest,
  warningHeader,
} from "../../api/socket-request.ts";
import { Fault } from "../../fault.ts";
import { chooseCredential } from "../../home/credential.ts";
import { type Places, socketToAsk } from "../../home/places.ts";

export interface Asker {
  readonly places: Places;
  readonly env: NodeJS.ProcessEnv;
  readonly folder: string;
  readonly version: string;
}

export interface Question {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  /** Missing for a request that is idempotent only if its method is GET. */
  readonly isIdempotent?: boolean;
}

/** How long an answer may take before we check whether the daemon answers at all. */
const quietTime = 5_000;
const probeTimeout = 10_000;

/**
 * Sends a request to the running daemon, with this process's credential. Waits for a slow answer while the daemon
 * still answers other requests; a daemon that does not is a fault.
 */
export async function askDaemon(asker: Asker, question: Question): Promise<SocketAnswer> {
  const request = requestOf(asker, question);
  const answer = await sendPatiently(asker, request);
  if (answer.status !== unauthorised || request.headers.authorization !== undefined) return answer;
  // The first daemon of a home creates the person's token before it listens: it may not have existed when we looked for it.
  const again = requestOf(asker, question);
  return again.headers.authorization === undefined ? answer : sendPatiently(asker, again);
}

const unauthorised = 401;

function sendPatiently(asker: Asker, request: SocketRequest): Promise<SocketAnswer> {
  return new Promise((resolve, reject) => {
    const hangUp = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const probe = async () => {
      const health = { socket: socketToAsk(asker.places), method: "GET", path: "/v1/health", headers: {} };
      try {
        await socketRequest({ ...health, timeout: probeTimeout });
      } catch (error) {
        // Any other error will be in the answer that we wait for.
        if (error instanceof Fault && error.code === silentDaemon) {
          reject(unanswered());
          return hangUp.abort();
        }
      }
      if (timer !== undefined) timer = setTimeout(probe, quietTime);
    };
    timer = setTimeout(probe, quietTime);
    socketRequest({ ...request, signal: hangUp.signal })
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        timer = undefined;
      });
  });
}

/** The daemon's warning in one line; empty if there is none. */
export function warningOf({ headers }: SocketAnswer): string {
  return decodeURIComponent(headers[warningHeader] ?? "");
}

function unanswered(): Fault {
  return new Fault(silentDaemon, "The daemon runs, but has not answered for a while.", {
    retry: "later",
    hint: "The request may still be carried out. Check the daemon: signalbox status",
  });
}

export function requestOf({ places, env, folder, version }: Asker, question: Question): SocketRequest {
  const { token, isHuman } = chooseCredential(places, env, folder);
  return {
    ...question,
    socket: socketToAsk(places),
    headers: {
      "signalbox-folder": encodeURIComponent(folder),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      // Only a person may replace an older daemon.
      ...(isHuman ? { "signalbox-version": version } : {}),
    },
  };
}

/** Nothing listens on the socket: the daemon was not started, or was killed, or there is no home. */
export function isNotRunning(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ECONNREFUSED" || code === "ENOTDIR";
}

export const olderDaemon = 426;
