import type { Outcome } from "./workflow.ts";

/** Names that mean something where a workflow does not say so itself. No other source file names a state. */
export const defaultNames = {
  /** Where a task without a summary starts. */
  unclear: "clarification",
  /** A terminal state with one of these names ended that way; any other ended `done`. */
  outcomes: ["done", "failed", "cancelled"] satisfies readonly Outcome[],
  /** The role of a `spawn_agent` without `role`, by its harness. */
  roles: { task: "worker", review: "reviewer" },
  /** The line that ends a stepped run. */
  marker: "DONE",
} as const;
