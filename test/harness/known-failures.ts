import type { Pinned } from "./pinned.ts";

/** Failures of the programs themselves. The table shows them, and no test fails because of them. */
export interface KnownFailure {
  readonly program: Pinned;
  /** Set if only one of several harnesses for the program shows the failure. */
  readonly harness?: string;
  /** The version with the failure; other versions are tested normally. */
  readonly version: string;
  /** The name of a row. */
  readonly behaviour: string;
  readonly why: string;
  /** A command line that shows the failure without Signalbox. */
  readonly reproduction: string;
}

const emptied = {
  program: "gemini",
  harness: "acp-gemini",
  version: "0.61.0",
  why: "A session that is loaded in the minute in which it was opened is emptied: both write to a file with the same name.",
  reproduction: "Speak to gemini --acp: session/new, session/prompt; start it again, and session/load at once.",
} as const;

export const knownFailures: readonly KnownFailure[] = [
  { ...emptied, behaviour: "resume" },
  { ...emptied, behaviour: "kill and adopt" },
];
