import type { TaskEvent } from "../../engine/decision.ts";

type Changes = TaskEvent["set"];

/** Events as JSON. JSON has no `undefined`, and no field of a task is null: null says that the event took it away. */
export function writeEvents(events: readonly TaskEvent[]): string {
  return JSON.stringify(events.map(({ type, by, data, set }) => ({ type, by, data, set: withNulls(set) })));
}

export function readEvents(text: string): readonly TaskEvent[] {
  const events = JSON.parse(text) as readonly TaskEvent[];
  for (const { set } of events) withoutNulls(set as Record<string, unknown>);
  return events;
}

function withNulls(set: Changes): unknown {
  const written: Record<string, unknown> = {};
  for (const key in set) written[key] = set[key as keyof Changes] ?? null;
  return written;
}

function withoutNulls(set: Record<string, unknown>): void {
  for (const key of Object.keys(set)) if (set[key] === null) set[key] = undefined;
}
