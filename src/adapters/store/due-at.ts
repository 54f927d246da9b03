import type { Effect } from "../../engine/decision.ts";

/** When an effect that is owed since `at` may be carried out. */
export function dueAt(effect: Effect, at: number): number {
  return at + Math.round((effect.delay ?? 0) * 1000);
}
