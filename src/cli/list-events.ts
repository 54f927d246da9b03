import type { Call } from "../api/client.ts";
import { routes } from "../api/routes.ts";
import type { EventView } from "../api/task-wires.ts";

export interface EventQuery {
  readonly project?: string;
  readonly task?: string;
  readonly agent?: string;
}

const pageSize = "1000";

/** History after a position, page by page. */
export async function* listEvents(call: Call, query: EventQuery, after: number): AsyncGenerator<readonly EventView[]> {
  for (let from = after; ; ) {
    const { events, last } = await call(routes.listEvents, {
      query: { ...query, after: String(from), limit: pageSize },
    });
    if (events.length === 0) return;
    yield events;
    from = Math.max(last, events.at(-1)?.position ?? 0);
  }
}

export async function allEvents(call: Call, query: EventQuery, after: number): Promise<readonly EventView[]> {
  const all: EventView[] = [];
  for await (const page of listEvents(call, query, after)) all.push(...page);
  return all;
}
