import type { Pinned } from "./pinned.ts";

/** What does not work, and is not ours to repair. The table shows it, and nothing fails because of it. */
export interface KnownFailure {
  readonly program: Pinned;
  /** Where only one of several harnesses for that program shows it. */
  readonly harness?: string;
  /** In which it was seen; another one is tried as if nothing were known. */
  readonly version: string;
  /** The name of a row. */
  readonly behaviour: string;
  readonly why: string;
  /** A command line that shows it without us. */
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
