import { setImmediate as turn } from "node:timers/promises";
import type { Store, StoredEvent } from "../ports/store.ts";

/** Notifies followers of new events in the history. */
export interface EventFeed {
  /**
   * Passes every matching event after `after` to `tell`, the old ones first, then each as it is written. If `tell`
   * returns false, the follower gets nothing more until `resume`.
   */
  follow(after: number, passes: (event: StoredEvent) => boolean, tell: (event: StoredEvent) => boolean): Following;
  /** An event was written. */
  wake(): void;
  stop(): void;
}

interface Following {
  /** The follower can take more. */
  resume(): void;
  end(): void;
}

interface Follower {
  position: number;
  isReady: boolean;
  readonly passes: (event: StoredEvent) => boolean;
  readonly tell: (event: StoredEvent) => boolean;
}

const pageSize = 500;

/** One reader of the store for all followers; a follower that is far behind catches up one page at a time. */
export function createEventFeed(store: Store, onError: (error: unknown) => void): EventFeed {
  const followers = new Set<Follower>();
  let reading = false;
  let again = false;
  let stopped = false;

  const read = async () => {
    for (;;) {
      // A follower that joins while a page is read waits for the next one: it would miss the events before the page.
      const ready = [...followers].filter(({ isReady }) => isReady);
      if (stopped || ready.length === 0) return;
      const events = await store.listEvents({}, Math.min(...ready.map(({ position }) => position)), pageSize);
      if (events.length === 0) return;
      for (const follower of ready) give(follower, events);
      // Yields, so that reading a long history does not block other work.
      await turn();
    }
  };

  const wake = () => {
    if (stopped || followers.size === 0) return;
    again = true;
    if (reading) return;
    reading = true;
    void (async () => {
      while (again && !stopped) {
        again = false;
        await read();
      }
    })()
      .catch(onError)
      .finally(() => {
        reading = false;
        // An event may have been written between the last read and this.
        if (again) wake();
      });
  };

  return {
    wake,
    follow(after, passes, tell) {
      const follower = { position: after, isReady: true, passes, tell };
      followers.add(follower);
      wake();
      return {
        resume() {
          follower.isReady = true;
          wake();
        },
        end: () => void followers.delete(follower),
      };
    },
    stop() {
      stopped = true;
      followers.clear();
    },
  };
}

function give(follower: Follower, events: readonly StoredEvent[]): void {
  for (const event of events) {
    if (event.position <= follower.position) continue;
    follower.position = event.position;
    if (!follower.passes(event) || follower.tell(event)) continue;
    follower.isReady = false;
    return;
  }
}
