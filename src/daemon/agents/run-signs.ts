import type { Activity } from "../../engine/reconcile.ts";
import type { HarnessError, HarnessEvent, TokenUsage } from "../../ports/harness.ts";

/** What is known about a run, from everything that was learnt about it so far. */
export interface RunSigns {
  readonly activity: Activity;
  /** When the activity became what it is. */
  readonly since: number;
  /** When there was last a sign of life. */
  readonly signAt: number;
  readonly session: string;
  readonly transcript: string;
  /** Tool calls that have begun and not ended. */
  readonly tools: number;
  /** What has arrived in its conversation, in order; the last of it, where it was much. How many that were in all. */
  readonly prompted: readonly string[];
  readonly promptCount: number;
  /** What it said last, or asks. */
  readonly said: string;
  /** What it is at, in a few words. */
  readonly what: string;
  /** The last thing that failed, unless it has gone on since. */
  readonly error: HarnessError | undefined;
}

export function firstSigns(now: number, session: string, transcript: string): RunSigns {
  return {
    ...{ activity: "starting", since: now, signAt: now, session, transcript },
    ...{ tools: 0, prompted: [], promptCount: 0, said: "", what: "", error: undefined },
  };
}

/** How many messages back a delivery is looked for. */
const mostPrompted = 2_000;

/** What an event adds to what is known. */
export function withEvent(signs: RunSigns, event: HarnessEvent, now: number): RunSigns {
  const seen = { ...signs, signAt: now };
  const be = (activity: Activity, rest: Partial<RunSigns> = {}): RunSigns => ({
    ...seen,
    ...rest,
    activity,
    since: activity === signs.activity ? signs.since : now,
  });
  switch (event.kind) {
    case "session":
      return { ...seen, session: event.id || signs.session, transcript: event.transcript || signs.transcript };
    case "prompted":
      return be("busy", {
        prompted: [...signs.prompted, event.text].slice(-mostPrompted),
        promptCount: signs.promptCount + 1,
        error: undefined,
        tools: 0,
      });
    case "busy":
      return be("busy", { what: event.what || signs.what });
    case "tool":
      return be("busy", {
        tools: Math.max(0, signs.tools + (event.state === "began" ? 1 : -1)),
        what: event.name || signs.what,
      });
    case "said":
      return be("busy", { said: event.text });
    case "idle":
      return be("idle", { said: event.said || signs.said, tools: 0, what: "" });
    case "asks":
      return be("asks", { what: event.about });
    case "failed":
      return { ...seen, error: event.error };
    case "over":
      // It is about to end: nobody is to tell it anything.
      return be("unknown", { tools: 0, what: "" });
    case "usage":
      return seen;
  }
}

/** Whether an event shows that the session exists: an id that we have chosen does not. */
export function isOfConversation(event: HarnessEvent, namesSession: boolean): boolean {
  return ["prompted", "said", "tool", "usage"].includes(event.kind) || (event.kind === "session" && !namesSession);
}

/** Whether an event shows that the program works: whoever has not logged in comes no further than its prompt. */
export function isOfWork(event: HarnessEvent): boolean {
  return event.kind === "tool" || (event.kind === "usage" && event.usage.outputTokens > 0);
}

export function usageIn(events: readonly HarnessEvent[]): readonly TokenUsage[] {
  return events.flatMap((event) => (event.kind === "usage" ? [event.usage] : []));
}
