import type { Mode } from "./workflow.ts";

/** What is seen of a live run, from evidence of different strength. Times are in seconds. */
export interface RunSight {
  readonly mode: Mode;
  /** absent: nothing was started yet. lost: it lives no more, and nobody noted how it ended. */
  readonly process: "absent" | "running" | "ended" | "lost";
  readonly activity: Activity;
  /** Since it was last seen to start. */
  readonly age: number;
  /** Since it last gave a sign of life: output, transcript, hook, screen, file. */
  readonly quiet: number;
  /** A tool call has begun and not ended, or a child of it uses the processor. */
  readonly isAtWork: boolean;
  /** Since it went idle; 0 where it is not. */
  readonly idle: number;
  /** Since it began to start without being ready for anything; 0 or missing where it is. */
  readonly starting?: number;
  /** What it waits for a person to do before it can work, in a sentence; empty or missing where nothing is known. */
  readonly obstacle?: string;
  /** A person was told of what it waits for, or that nobody knows. */
  readonly isRaised: boolean;
}

/** `unknown` is an answer: nothing destructive follows from it. */
export type Activity = "starting" | "busy" | "idle" | "asks" | "unknown";

/** What is to be done about a run. */
export type Healing =
  | { readonly kind: "none" }
  /** It has ended: how is read from what it left. */
  | { readonly kind: "judge" }
  /** It went away through no fault of its own. */
  | { readonly kind: "lost" }
  /** It gives no sign of life, or takes longer than it may: it is ended, and the engine is told. */
  | { readonly kind: "stalled" | "overdue"; readonly reason: string }
  /** It cannot be told whether it is stalled, or it waits for a person: somebody has to look. */
  | { readonly kind: "raise"; readonly reason: string }
  /** Its turn is over. */
  | { readonly kind: "idle" };

/** One that is lost this soon was not lost by accident: something ends it whenever it is started. */
const soonest = 10;
/** What takes longer to be ready shows something that nobody here knows. */
const longestStart = 120;
/** How often longer than the limit something may be at work without a sign of life before a person is asked. */
const patience = 6;

/** In seconds; undefined where the run has none. */
export interface RunLimits {
  /** Without a sign of life. */
  readonly stall: number | undefined;
  /** From its start. */
  readonly time: number | undefined;
}

/**
 * What follows from what is seen of a run. The one place where runs are judged to be dead, stalled or waiting; whoever calls
 * it carries out what it says.
 */
export function reconcile(sight: RunSight, { stall, time }: RunLimits): Healing {
  if (sight.process === "absent") return { kind: "none" };
  if (sight.process === "ended") return { kind: "judge" };
  if (sight.process === "lost") return sight.age < soonest ? { kind: "judge" } : { kind: "lost" };
  if (time !== undefined && sight.age >= time) return { kind: "overdue", reason: `It took longer than ${time} s.` };
  if (sight.obstacle) return { kind: "raise", reason: sight.obstacle };
  if (sight.activity === "asks") {
    return sight.isRaised
      ? { kind: "none" }
      : { kind: "raise", reason: "It waits in a dialog for a person's decision." };
  }
  if (sight.mode === "session" && !sight.isRaised && (sight.starting ?? 0) >= longestStart) {
    return { kind: "raise", reason: "It has not begun to work for two minutes. Its window shows why." };
  }
  if (sight.activity === "idle") return { kind: "idle" };
  if (stall === undefined || sight.quiet < stall) return { kind: "none" };
  const minutes = `${Math.round(sight.quiet / 6) / 10} minutes`;
  if (!sight.isAtWork) return { kind: "stalled", reason: `It gave no sign of life for ${minutes}.` };
  if (sight.isRaised || sight.quiet < stall * patience) return { kind: "none" };
  return { kind: "raise", reason: `It has been at one thing for ${minutes}, and nobody can tell whether it goes on.` };
}
