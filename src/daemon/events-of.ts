import type { Store, StoredEvent } from "../ports/store.ts";

const pageSize = 500;

/** A task's whole history, from its beginning. */
export async function* eventsOf(store: Store, task: string): AsyncGenerator<StoredEvent> {
  for (let after = 0; ; ) {
    const page = await store.listEvents({ task }, after, pageSize);
    yield* page;
    after = page.at(-1)?.position ?? 0;
    if (page.length < pageSize) return;
  }
}
