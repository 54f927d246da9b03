import type { Step } from "../explore/step.ts";
import type { Settings } from "../workflow.ts";

/** Something that exploring a workflow brought to light. */
export interface Finding {
  /** error: a task can be lost in it; warning: it runs, but perhaps not as meant; note: worth knowing. */
  readonly level: "error" | "warning" | "note";
  readonly code: FindingCode;
  readonly state: string;
  /** What is wrong, as a sentence. */
  readonly message: string;
  /** How to mend it, as a sentence. */
  readonly fix: string;
  /** A way to see it happen; undefined where nothing happens (an unreachable state). */
  readonly example: Example | undefined;
}

export type FindingCode =
  | "wedge"
  | "no-success"
  | "silent-wait"
  | "rule-cycle"
  | "agent-cycle"
  | "gate-without-producer"
  | "nobody-asks"
  | "no-verb"
  | "choice"
  | "bypass"
  | "self-review"
  | "leak"
  | "unreachable"
  | "dead-rule"
  | "held"
  | "incomplete"
  | "unexplored"
  | "loading";

/** A counterexample that can be followed step by step. */
export interface Example {
  readonly workflow: string;
  readonly hash: string;
  readonly code: FindingCode;
  readonly preset: string;
  readonly settings: Settings;
  /** The state the task is created in. */
  readonly created: string;
  readonly steps: readonly Step[];
  /** The last steps of `steps` form a circle of this length; 0 where there is none. */
  readonly circle: number;
  readonly ends: { readonly status: string; readonly held: boolean };
  /** The states on the way. */
  readonly route: readonly string[];
}
