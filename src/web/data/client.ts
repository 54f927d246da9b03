import { type Call, createClient, Refusal } from "../../api/client.ts";
import { Fault } from "../../fault.ts";
import { setDaemonState } from "./daemon-state.ts";
import { keyHeaders } from "./page-key.ts";

/** Asks the daemon that served this page. */
export const call: Call = createClient(async ({ method, path, body }) => {
  const headers = { ...keyHeaders(), ...(body === undefined ? {} : { "content-type": "application/json" }) };
  const sent: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
  const response = await fetch(path, body === undefined ? sent : { ...sent, body }).catch((cause: unknown) => {
    setDaemonState({ connection: "gone" });
    throw daemonGone(cause);
  });
  noteAnswer(response);
  const text = await response.text().catch((cause: unknown) => {
    throw daemonGone(cause);
  });
  if (!(response.headers.get("content-type") ?? "").startsWith("application/json")) throw notTheDaemon(response);
  return { status: response.status, body: text };
});

/** Takes the daemon's version, and whether it knows who we are, from any of its answers. */
export function noteAnswer({ status, headers }: Response): void {
  const version = headers.get("signalbox-version");
  setDaemonState({ ...(version === null ? {} : { version }), ...(status === 401 ? { isSignedOut: true } : {}) });
}

function daemonGone(cause: unknown): Fault {
  return new Fault("daemon.gone", "The daemon does not answer.", {
    retry: "later",
    hint: "Start it: signalbox up",
    cause,
  });
}

/** A proxy answers while the daemon behind it is gone. */
function notTheDaemon({ status, statusText }: Response): Fault {
  return new Fault("daemon.gone", `Another program than the daemon answered: ${status} ${statusText}.`, {
    retry: "later",
    hint: "See whether the daemon runs: signalbox status",
  });
}

/** What went wrong, for a person: what, and what to do next. */
export interface Problem {
  readonly code: string;
  readonly text: string;
  readonly fix: string;
}

export function problemsOf(error: unknown): readonly Problem[] {
  if (error instanceof Refusal) return error.reasons;
  if (error instanceof Fault) return [{ code: error.code, text: error.message, fix: error.hint ?? "" }];
  return [{ code: "page", text: error instanceof Error ? error.message : String(error), fix: "Reload the page." }];
}
