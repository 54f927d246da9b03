import type { World } from "./world.ts";

/**
 * What came of an attempt: `holds` if it had no effect on a decision, `noticed` if it worked and a person is told before
 * anything is merged, `open` if it worked.
 */
export type Outcome = "holds" | "noticed" | "open";

/** A way in which an agent could try to get its work past a review, or to do more than its role. */
export interface Way {
  /** What the agent tries; the row in the document. */
  readonly name: string;
  /** The shell script with which the agent tries it. */
  readonly script: string;
  /** What the worker does before. */
  readonly prepare?: string;
  /** The agent that tries it; the worker, if it is missing. */
  readonly by?: "worker" | "reviewer";
  /** Milliseconds that the daemon may take to see it. */
  readonly settle?: number;
  /** What it achieved, beyond what `World.stand` compares. Undefined if nothing. */
  achieved?(world: World): Promise<string | undefined> | string | undefined;
  /** Whether a person is told, if it worked; `World.isTold` if it is missing. */
  isTold?(world: World): Promise<boolean>;
  /** Undoes in the workspace what the script did, for the ways after it. */
  readonly undo?: string;
}

export interface Measured {
  readonly way: string;
  readonly outcome: Outcome;
  /** What it changed. */
  readonly effect: string;
}
