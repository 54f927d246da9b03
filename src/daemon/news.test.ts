import { expect, test } from "vitest";
import type { Store, StoredEvent } from "../ports/store.ts";
import { createNews } from "./news.ts";

/** A history that grows. */
function history() {
  const events: StoredEvent[] = [];
  return {
    add: () => void events.push({ position: events.length + 1 } as StoredEvent),
    store: { listEvents: async (_: object, after: number) => events.slice(after) } as unknown as Store,
  };
}

test("whoever follows is told of what happens at whatever moment, also just when everything was read", async () => {
  for (let moment = 0; moment < 30; moment++) {
    const { add, store } = history();
    const news = createNews(store, () => {});
    const told: number[] = [];
    news.follow(
      0,
      () => true,
      ({ position }) => told.push(position) > 0,
    );
    for (let turn = 0; turn < moment; turn++) await undefined;
    add();
    news.wake();
    await new Promise((resolve) => setImmediate(resolve));
    expect(told, `after ${moment} turns`).toEqual([1]);
    news.stop();
  }
});
