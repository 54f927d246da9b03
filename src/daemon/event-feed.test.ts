import { expect, test } from "vitest";
import type { Store, StoredEvent } from "../ports/store.ts";
import { createEventFeed } from "./event-feed.ts";

/** A history that grows. */
function history() {
  const events: StoredEvent[] = [];
  return {
    add: () => void events.push({ position: events.length + 1 } as StoredEvent),
    store: { listEvents: async (_: object, after: number) => events.slice(after) } as unknown as Store,
  };
}

test("a follower gets every event, even one that is written just when everything was read", async () => {
  for (let moment = 0; moment < 30; moment++) {
    const { add, store } = history();
    const feed = createEventFeed(store, () => {});
    const told: number[] = [];
    feed.follow(
      0,
      () => true,
      ({ position }) => told.push(position) > 0,
    );
    for (let turn = 0; turn < moment; turn++) await undefined;
    add();
    feed.wake();
    await new Promise((resolve) => setImmediate(resolve));
    expect(told, `after ${moment} turns`).toEqual([1]);
    feed.stop();
  }
});
