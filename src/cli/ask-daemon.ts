import { type SocketAnswer, type SocketRequest, silentDaemon, socketRequest } from "../api/socket-request.ts";
import { Fault } from "../fault.ts";
import type { Places } from "../home/places.ts";
import { chooseCredential } from "./credential.ts";

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
}

/** How long an answer may take before it is looked whether the daemon answers anything at all. */
const quietTime = 5_000;
const probePatience = 10_000;

/**
 * Asks the daemon that runs, with whatever this process may show. What takes long is waited for, as long as the daemon
 * answers others meanwhile; one that answers nobody is a fault.
 */
export async function askDaemon(asker: Asker, question: Question): Promise<SocketAnswer> {
  // First, because it fails where the home is somebody else's: a timer that is never cleared would keep the command alive.
  const request = requestOf(asker, question);
  return new Promise((resolve, reject) => {
    const hangUp = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const probe = async () => {
      const status = { socket: asker.places.socket, method: "GET", path: "/v1/status", headers: {} };
      try {
        await socketRequest({ ...status, patience: probePatience });
      } catch (error) {
        // What else is wrong is told by the answer that is waited for.
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

function unanswered(): Fault {
  return new Fault(silentDaemon, "The daemon lives, but has not answered for a while.", {
    retry: "later",
    hint: "What was asked for may still be carried out. Look at the daemon: signalbox status",
  });
}

export function requestOf({ places, env, folder, version }: Asker, question: Question): SocketRequest {
  const { token, isHuman } = chooseCredential(places, env, folder);
  return {
    ...question,
    socket: places.socket,
    headers: {
      "signalbox-folder": encodeURIComponent(folder),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      // Only a person may have an older daemon replaced.
      ...(isHuman ? { "signalbox-version": version } : {}),
    },
  };
}

/** Nobody listens: the daemon was never started, or it was killed, or there is no home where it could. */
export function isNotRunning(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ECONNREFUSED" || code === "ENOTDIR";
}

export const olderDaemon = 426;
