import type { TaskEvent } from "../engine/decision.ts";
import type { LimitChange } from "./agents/dispatch.ts";
import { claimOf } from "./authorise.ts";
import type { Caller } from "./callers.ts";
import type { Core } from "./core.ts";
import { isoTime } from "./views.ts";

type HomePorts = Pick<Core, "store" | "clock" | "log">;
type HomeEvent = Omit<
  Extract<TaskEvent, { readonly type: `${"project" | "pause" | "limit"}.${string}` }>,
  "by" | "set"
>;

/**
 * Adds an event of the home: what a dashboard shows of projects, pauses and limits has changed. The change is in force, so that a
 * full disk must not turn it into an error.
 */
export async function noteOfHome(
  { store, clock, log }: HomePorts,
  by: Caller | "engine",
  { type, data }: HomeEvent,
): Promise<void> {
  const event = { type, by: by === "engine" ? by : claimOf(by).role, data, set: {} } as TaskEvent;
  await store
    .addEvents("", [event], clock.now())
    .catch((error) => log.error("A change could not be recorded", { type, error }));
}

/** Records that a provider's limit was reached, or is over. */
export function noteLimit(ports: HomePorts, { harness, until, reason, isLifted }: LimitChange): void {
  const by = isLifted ? ({ kind: "human" } as const) : "engine";
  const event: HomeEvent =
    until === undefined
      ? { type: "limit.ended", data: { harness } }
      : { type: "limit.began", data: { harness, until: isoTime(until), reason } };
  void noteOfHome(ports, by, event);
}
