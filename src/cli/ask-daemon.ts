import { type SocketAnswer, type SocketRequest, socketRequest } from "../api/socket-request.ts";
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

/** Asks the daemon that runs, with whatever this process may show. */
export function askDaemon(asker: Asker, question: Question): Promise<SocketAnswer> {
  return socketRequest(requestOf(asker, question));
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
