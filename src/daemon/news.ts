import { setImmediate as turn } from "node:timers/promises";
import type { Store, StoredEvent } from "../ports/store.ts";

/** Tells whoever follows history that there is more of it. */
export interface News {
  /**
   * Gives every event after `after` that passes, the old ones first, then each as it comes. Where `tell` says false, its
   * reader has enough for now.
   */
  follow(after: number, passes: (event: StoredEvent) => boolean, tell: (event: StoredEvent) => boolean): Following;
  /** Something was written. */
  wake(): void;
  stop(): void;
}

export interface Following {
  /** The reader can take more. */
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

/** One reader of the store for all who follow; those who are far behind are brought up to date a page at a time. */
export function createNews(store: Store, onError: (error: unknown) => void): News {
  const followers = new Set<Follower>();
  let reading = false;
  let again = false;
  let stopped = false;

  const read = async () => {
    for (;;) {
      // Whoever comes while the page is read is not among them: it would miss what is before the page.
      const ready = [...followers].filter(({ isReady }) => isReady);
      if (stopped || ready.length === 0) return;
      const events = await store.listEvents({}, Math.min(...ready.map(({ position }) => position)), pageSize);
      for (const follower of ready) give(follower, events);
      if (events.length < pageSize) return;
      // A long history is read between other work, not in place of it.
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
        // Something may have been written between the last look and this.
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

/** The same store; says so whenever history grows. */
export function tellingStore(store: Store, wrote: () => void): Store {
  const telling =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args) => {
      const result = await write(...args);
      wrote();
      return result;
    };
  return {
    ...store,
    createTask: telling(store.createTask),
    saveDecision: telling(store.saveDecision),
    addEvents: telling(store.addEvents),
    saveDocument: telling(store.saveDocument),
    finishEffect: telling(store.finishEffect),
  };
}
