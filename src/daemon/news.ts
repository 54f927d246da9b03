import type { Store, StoredEvent } from "../ports/store.ts";

/** Tells whoever follows history that there is more of it. */
export interface News {
  /** Gives every event after `after` that passes, the old ones first, then each as it comes. Gives a function that ends it. */
  follow(after: number, passes: (event: StoredEvent) => boolean, tell: (event: StoredEvent) => void): () => void;
  /** Something was written. */
  wake(): void;
  stop(): void;
}

interface Follower {
  position: number;
  readonly passes: (event: StoredEvent) => boolean;
  readonly tell: (event: StoredEvent) => void;
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
      const from = Math.min(...[...followers].map(({ position }) => position));
      if (!Number.isFinite(from)) return;
      const events = await store.listEvents({}, from, pageSize);
      const last = events.at(-1)?.position;
      if (last === undefined) return;
      for (const follower of followers) {
        for (const event of events) {
          if (event.position > follower.position && follower.passes(event)) follower.tell(event);
        }
        follower.position = Math.max(follower.position, last);
      }
      if (events.length < pageSize && !again) return;
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
      });
  };

  return {
    wake,
    follow(after, passes, tell) {
      const follower = { position: after, passes, tell };
      followers.add(follower);
      wake();
      return () => followers.delete(follower);
    },
    stop() {
      stopped = true;
      followers.clear();
    },
  };
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
