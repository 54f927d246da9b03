import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import { silentDaemon, socketRequest } from "../api/socket-request.ts";
import type { TypeOf } from "../api/wire.ts";
import { Fault } from "../fault.ts";
import { lockHolder } from "../home/lock-holder.ts";
import type { Places } from "../home/places.ts";
import { isNotRunning } from "./ask-daemon.ts";

/** What can be found out about the daemon of a home within a few seconds, whether or not it answers. */
export type FoundDaemon =
  | { readonly kind: "answers"; readonly status: TypeOf<typeof routes.status.answer> }
  /** It has the lock, but says nothing: it has only just begun, is busy, hangs, or was stopped. */
  | { readonly kind: "silent"; readonly pid: number | undefined }
  | { readonly kind: "none" };

const patience = 2_500;

/** Shows no credential: whoever reaches the socket may read, and the token may be what is wrong. */
export async function findDaemon(places: Places): Promise<FoundDaemon> {
  const end = performance.now() + patience;
  const call = createClient((question) =>
    socketRequest({
      ...question,
      socket: places.socket,
      headers: {},
      patience: Math.max(200, end - performance.now()),
    }),
  );
  for (;;) {
    try {
      return { kind: "answers", status: await call(routes.status) };
    } catch (error) {
      const holder = lockHolder(places);
      if (error instanceof Fault && error.code === silentDaemon) return { kind: "silent", pid: holder?.pid };
      const isGone = isNotRunning(error) || (error instanceof Fault && error.code === "daemon.gone");
      if (!isGone) throw error;
      if (holder === undefined) return { kind: "none" };
      // A daemon whose socket was deleted makes another one within a second or two.
      if (performance.now() > end) return { kind: "silent", pid: holder.pid };
      await sleep(50);
    }
  }
}

/** What to say where the daemon lives and does not answer. */
export function silentFault(pid: number | undefined): Fault {
  const who = pid === undefined ? "The daemon" : `The daemon (process ${pid})`;
  return new Fault(silentDaemon, `${who} lives, but does not answer.`, {
    retry: "later",
    hint: "It may be busy, or have only just begun: try again. To end it, which loses nothing (what was under way is carried out again): signalbox down --force",
  });
}
