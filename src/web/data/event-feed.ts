import type { RunView } from "../../api/agents.ts";
import { createEventReader } from "../../api/event-stream.ts";
import type { EventView } from "../../api/tasks.ts";

/** What the feed tells the tabs. Messages between the shared worker and a tab have the same form. */
export type FeedNews =
  | { readonly kind: "event"; readonly event: EventView }
  | { readonly kind: "run"; readonly run: RunView }
  /** The stream is open. `isFresh`: it does not continue an earlier one, so that events before it were not seen. */
  | { readonly kind: "live"; readonly version: string; readonly isFresh: boolean }
  | { readonly kind: "gone" }
  | { readonly kind: "signed-out" };

interface FeedPorts {
  fetch(path: string, options: { signal: AbortSignal; headers: Record<string, string> }): Promise<Response>;
  /** The headers that show the daemon whose page this is. */
  credentials(): Record<string, string>;
  /** Resolves after so many milliseconds, or when the signal fires. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const firstDelay = 250;
const maxDelay = 5_000;
/** The daemon sends a comment every 15 seconds. A connection that is silent for longer is dead. */
const silenceLimit = 40_000;

/**
 * Follows the daemon's event stream until the signal fires. A broken stream is resumed after its last event, so that
 * nothing is missing; an event that came twice is told once.
 */
export async function followFeed(ports: FeedPorts, tell: (news: FeedNews) => void, signal: AbortSignal): Promise<void> {
  let position: number | undefined;
  let delay = firstDelay;
  while (!signal.aborted) {
    const breaking = new AbortController();
    const stop = () => breaking.abort();
    signal.addEventListener("abort", stop);
    const query = position === undefined ? "" : `&after=${position}`;
    try {
      const response = await ports.fetch(`/v1/stream?live=true${query}`, {
        signal: breaking.signal,
        headers: { accept: "text/event-stream", ...ports.credentials() },
      });
      if (response.status === 401) return tell({ kind: "signed-out" });
      if (response.status === 400) position = undefined; // This daemon does not know the position: another store.
      if (!response.ok || response.body === null) throw new Error(`${response.status}`);
      const isFresh = position === undefined;
      const read = createEventReader({
        onBegin(from) {
          const start = Number(from);
          // A restored store has fewer events than were seen.
          const isBehind = position !== undefined && start < position;
          position = start;
          delay = firstDelay;
          const version = response.headers.get("signalbox-version") ?? "";
          tell({ kind: "live", version, isFresh: isFresh || isBehind });
        },
        onEvent(event) {
          if (position !== undefined && event.position <= position) return;
          position = event.position;
          tell({ kind: "event", event });
        },
        onLive: (run) => tell({ kind: "run", run }),
      });
      await readAll(response.body, read, () => breaking.abort());
    } catch {
      // Every way in which a stream ends leads to the next try.
    } finally {
      signal.removeEventListener("abort", stop);
    }
    if (signal.aborted) return;
    tell({ kind: "gone" });
    await ports.sleep(delay, signal);
    delay = Math.min(2 * delay, maxDelay);
  }
}

async function readAll(body: ReadableStream<Uint8Array>, read: (bytes: Uint8Array) => void, onSilence: () => void) {
  const reader = body.getReader();
  for (;;) {
    const silence = setTimeout(onSilence, silenceLimit);
    const { done, value } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    read(value);
  }
}

/** The ports of a browser; a worker cannot read the page's key itself. */
export const createBrowserPorts = (credentials: () => Record<string, string>): FeedPorts => ({
  credentials,
  fetch: (path, options) => fetch(path, { ...options, credentials: "same-origin", cache: "no-store" }),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      });
    }),
});
