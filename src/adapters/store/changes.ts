import type { TaskEvent } from "../../engine/decision.ts";

type Changes = TaskEvent["set"];

/** What an event changed, as JSON. JSON has no `undefined`, and no field of a task is null: null says "taken away". */
export function writeChanges(set: Changes): string {
  const written: Record<string, unknown> = {};
  for (const key in set) written[key] = set[key as keyof Changes] ?? null;
  return JSON.stringify(written);
}

export function readChanges(text: string): Changes {
  const set = JSON.parse(text) as Record<string, unknown>;
  for (const key of Object.keys(set)) if (set[key] === null) set[key] = undefined;
  return set as Changes;
}
