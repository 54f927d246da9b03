import { createParser } from "eventsource-parser";
import type { RunView } from "./agents.ts";
import type { EventView } from "./tasks.ts";

export interface EventStreamListener {
  /** The stream begins after this position. To resume before the first event has come, use this one. */
  onBegin?(position: string): void;
  onEvent(event: EventView): void;
  /** The present state of an agent; only if `live` was asked for. */
  onLive?(run: RunView): void;
}

/** Reads the bytes of the route `streamEvents`, in pieces of any size. */
export function createEventReader({ onBegin, onEvent, onLive }: EventStreamListener): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  const parser = createParser({
    onComment: (comment) => {
      const [, position] = /^from (\d+)$/.exec(comment) ?? [];
      if (position !== undefined) onBegin?.(position);
    },
    onEvent: ({ event, data }) => {
      if (event === "live") onLive?.(JSON.parse(data) as RunView);
      else onEvent(JSON.parse(data) as EventView);
    },
  });
  return (bytes) => parser.feed(decoder.decode(bytes, { stream: true }));
}
